import { Client } from "pg";
import { createCycleStores } from "../../../../lib/adapters/postgres/cycle-store.ts";
import { FRESH_BUDGET } from "../../../../lib/model/calls/budget.ts";
import { runCycle } from "../../../../lib/sync/run-cycle.ts";
import { loadByEngine } from "../load/load-ways.ts";
import { ALONE, CLOCK } from "./alone.ts";
import type { BenchServer } from "./bench-database.ts";
import { benchMapping, provisionTable, salesforceOf } from "./bench-mapping.ts";
import { type BenchOrg, startBenchOrg } from "./bench-org.ts";
import { type Figure, median, type Sizes } from "./figure.ts";
import { updateByBulk, updateBySoap } from "./plain-updates.ts";

/**
 * Changed rows to Salesforce, against the time that the org itself takes for the same saves, asked for by a client that
 * does nothing else: few enough to go by SOAP. Both alternate, as the load does, so that neither is measured on code of
 * the org that runs for the first time.
 */
export async function measurePush(
  server: BenchServer,
  { pushed, pushRounds }: Sizes,
  say: (text: string) => void,
): Promise<Figure[]> {
  const few = Math.min(SOAP_ROWS, pushed);
  // Each is changed by the plain client afterwards, so each push has an object to itself.
  const objects = (name: string) => Array.from({ length: pushRounds }, (_, round) => `${name}${round + 1}__c`);
  const sizes = [...objects("Many").map((name) => [name, pushed]), ...objects("Few").map((name) => [name, few])];
  const org = await startBenchOrg(Object.fromEntries(sizes) as Record<string, number>);
  const url = await server.createDatabase();
  const openStore = createCycleStores(() => new Date()); // one cycle leaves its connection to the next
  try {
    const pushes = async (names: readonly string[], rows: number) => {
      const done: Pushed[] = [];
      for (const name of names) done.push(await pushAll({ url, openStore, org }, name, rows, say));
      return done;
    };
    const many = await pushes(objects("Many"), pushed);
    const bySoap = await pushes(objects("Few"), few);
    return [
      { name: `push of ${pushed.toLocaleString("en")} changed rows`, value: secondsOf(many), unit: "s" },
      {
        name: "  calls that save",
        value: Math.max(...many.map(({ calls }) => calls)),
        unit: "",
        atMost: 10,
      },
      { name: "  times the org's own time", value: timesOwn(many), unit: "×" },
      { name: `  times the org's own time, ${few.toLocaleString("en")} by SOAP`, value: timesOwn(bySoap), unit: "×" },
    ];
  } finally {
    org.end();
  }
}

interface Pushed {
  readonly seconds: number;
  readonly ownSeconds: number;
  readonly calls: number;
}

const secondsOf = (pushes: readonly Pushed[]) => median(pushes.map(({ seconds }) => seconds));

const timesOwn = (pushes: readonly Pushed[]) => secondsOf(pushes) / median(pushes.map(({ ownSeconds }) => ownSeconds));

/** So many go by SOAP. */
const SOAP_ROWS = 2_000;

interface Sides {
  readonly url: string;
  readonly openStore: ReturnType<typeof createCycleStores>;
  readonly org: BenchOrg;
}

async function pushAll(
  { url, openStore, org }: Sides,
  object: string,
  rows: number,
  say: (text: string) => void,
): Promise<Pushed> {
  const shape = await provisionTable(url, org.connection, object, { captured: true });
  await loadByEngine({ way: "engine", url, org: org.connection, object, shape });
  const ids = await change(url, shape.table);
  const salesforce = salesforceOf(org.connection);
  const store = openStore({ url, schema: "salesforce" });
  const mapping = benchMapping(object);
  const began = performance.now();
  const report = await runCycle(
    { store, salesforce, shared: ALONE, clock: CLOCK, random: Math.random },
    {
      mapping,
      kind: "poll",
      saves: "all",
      callSize: 200,
      hasToPull: null,
      highWater: [],
      rewoundAt: null,
      slot: null,
      writers: async () => [org.userId],
      budget: FRESH_BUDGET,
      owner: "bench",
      deadline: Date.now() + 900_000,
    },
  );
  const seconds = (performance.now() - began) / 1000;
  await store.close();
  if (!report.ran || report.error || report.tally.accepted !== rows) {
    throw new Error(`the push did not accept ${rows} rows: ${JSON.stringify(report)}`, {
      cause: report.ran ? report.error : null,
    });
  }
  const calls = salesforce.calls();
  const update = calls["BULK"] ? updateByBulk : updateBySoap;
  const ownBegan = performance.now();
  await update(
    org,
    object,
    ids.map((id) => ({ id, value: "changed by the plain client" })),
  );
  const ownSeconds = (performance.now() - ownBegan) / 1000;
  say(
    `${rows} rows in ${seconds.toFixed(2)} s, ${JSON.stringify(calls)}; the org's own time ${ownSeconds.toFixed(2)} s`,
  );
  return { seconds, ownSeconds, calls: (calls["BULK"] ?? 0) + (calls["SOAP"] ?? 0) };
}

/** Changes one field of every row in one statement, as the application; gives the records' ids. */
async function change(url: string, table: string): Promise<string[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const changed = await client.query<{ sfid: string }>(
    `UPDATE salesforce.${table} SET last__c = 'changed by the application' RETURNING sfid`,
  );
  await client.end();
  return changed.rows.map(({ sfid }) => sfid);
}
