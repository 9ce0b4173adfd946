import { type Figure, median, say } from "../figures.ts";
import type { BenchOrg, Database } from "./bench.ts";
import { cycleOf, openStore, provisionTable } from "./bench-mapping.ts";
import { loadByEngine } from "./load.ts";
import { updateByBulk } from "./plain-client.ts";
import type { SyncMeasure } from "./sizes.ts";

/**
 * Changed rows to Salesforce, against the time that the org itself takes for the same saves, asked for by a client that
 * does nothing else. Both alternate, as the load does, so that neither is measured on code of the org that runs for the
 * first time.
 */
export const measurePush: SyncMeasure = async (bench, { pushed, pushRounds }): Promise<Figure[]> => {
  // Each is changed by the plain client afterwards, so each push has an object to itself.
  const objects = Array.from({ length: pushRounds }, (_, round) => `Many${round + 1}__c`);
  const org = await bench.createOrg(Object.fromEntries(objects.map((name) => [name, pushed])));
  const database = await bench.createDatabase();
  const pushes: Awaited<ReturnType<typeof pushAll>>[] = [];
  for (const name of objects) pushes.push(await pushAll(database, org, name, pushed));
  const own = median(pushes.map(({ ownSeconds }) => ownSeconds));
  const seconds = median(pushes.map((one) => one.seconds));
  const calls = Math.max(...pushes.map((one) => one.calls));
  return [
    { name: `push of ${pushed.toLocaleString("en")} changed rows`, value: seconds, unit: "s" },
    { name: "  calls that save", value: calls, unit: "", atMost: 10 },
    { name: "  times the org's own time", value: seconds / own, unit: "×" },
  ];
};

async function pushAll({ url, client }: Database, org: BenchOrg, object: string, count: number) {
  const shape = await provisionTable(url, org.connection, object, { captured: true });
  await loadByEngine({ way: "engine", url, org: org.connection, object, shape });
  const { rows } = await client.query<{ sfid: string }>(
    `UPDATE salesforce.${shape.table} SET last__c = 'changed by the application' RETURNING sfid`,
  );
  const began = performance.now();
  const { accepted, calls } = await cycleOf(object, openStore({ url, schema: "salesforce" }), org.connection);
  const seconds = (performance.now() - began) / 1000;
  if (accepted !== count) throw new Error(`the push accepted ${accepted} of ${count} rows`);
  const ownBegan = performance.now();
  await updateByBulk(
    org,
    object,
    rows.map(({ sfid }) => ({ id: sfid, value: "changed by the plain client" })),
  );
  const ownSeconds = (performance.now() - ownBegan) / 1000;
  say(`${count} rows in ${seconds.toFixed(2)} s; the org's own time ${ownSeconds.toFixed(2)} s`);
  return { seconds, ownSeconds, calls: (calls["BULK"] ?? 0) + (calls["SOAP"] ?? 0) };
}
