import { Client } from "pg";
import { type Figure, median, say } from "../figures.ts";
import { loadByEngine } from "../load/load-ways.ts";
import { cycleOf, openStore, provisionTable } from "./bench-mapping.ts";
import { type BenchOrg, startBenchOrg } from "./bench-org.ts";
import { updateByBulk } from "./plain-updates.ts";
import type { Measure } from "./sizes.ts";

/**
 * Changed rows to Salesforce, against the time that the org itself takes for the same saves, asked for by a client that
 * does nothing else. Both alternate, as the load does, so that neither is measured on code of the org that runs for the
 * first time.
 */
export const measurePush: Measure = async (server, { pushed, pushRounds }) => {
  // Each is changed by the plain client afterwards, so each push has an object to itself.
  const objects = Array.from({ length: pushRounds }, (_, round) => `Many${round + 1}__c`);
  const org = await startBenchOrg(Object.fromEntries(objects.map((name) => [name, pushed])));
  const url = await server.createDatabase();
  try {
    const pushes: Pushed[] = [];
    for (const name of objects) pushes.push(await pushAll(url, org, name, pushed));
    const own = median(pushes.map(({ ownSeconds }) => ownSeconds));
    const seconds = median(pushes.map((one) => one.seconds));
    const calls = Math.max(...pushes.map((one) => one.calls));
    const figures: Figure[] = [
      { name: `push of ${pushed.toLocaleString("en")} changed rows`, value: seconds, unit: "s" },
      { name: "  calls that save", value: calls, unit: "", atMost: 10 },
      { name: "  times the org's own time", value: seconds / own, unit: "×" },
    ];
    return figures;
  } finally {
    org.end();
  }
};

interface Pushed {
  readonly seconds: number;
  readonly ownSeconds: number;
  readonly calls: number;
}

async function pushAll(url: string, org: BenchOrg, object: string, rows: number): Promise<Pushed> {
  const shape = await provisionTable(url, org.connection, object, { captured: true });
  await loadByEngine({ way: "engine", url, org: org.connection, object, shape });
  const client = new Client({ connectionString: url });
  await client.connect();
  const changed = await client.query<{ sfid: string }>(
    `UPDATE salesforce.${shape.table} SET last__c = 'changed by the application' RETURNING sfid`,
  );
  await client.end();
  const began = performance.now();
  const { accepted, calls } = await cycleOf(object, openStore({ url, schema: "salesforce" }), org.connection);
  const seconds = (performance.now() - began) / 1000;
  if (accepted !== rows) throw new Error(`the push accepted ${accepted} of ${rows} rows`);
  const ownBegan = performance.now();
  const updates = changed.rows.map(({ sfid }) => ({ id: sfid, value: "changed by the plain client" }));
  await updateByBulk(org, object, updates);
  const ownSeconds = (performance.now() - ownBegan) / 1000;
  say(`${rows} rows in ${seconds.toFixed(2)} s; the org's own time ${ownSeconds.toFixed(2)} s`);
  return { seconds, ownSeconds, calls: (calls["BULK"] ?? 0) + (calls["SOAP"] ?? 0) };
}
