import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Client } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { systemClock } from "../../../../lib/local/clock.ts";
import { FRESH_BUDGET } from "../../../../lib/model/calls/budget.ts";
import type { TableShape } from "../../../../lib/model/mapping/shape.ts";
import { everything } from "../../../../lib/model/mapping/soql.ts";
import { WORKERS } from "../../../../lib/model/resources.ts";
import type { SalesforceConnection } from "../../../../lib/model/workspace/workspace.ts";
import { guardConnections } from "../../../../lib/network/guarded-dns.ts";
import { runLoad } from "../../../../lib/sync/load/run-load.ts";
import { answer, apart } from "../apart.ts";
import { type Figure, median, say, sum } from "../figures.ts";
import { ALONE, benchMapping, openStore, provisionTable, salesforceOf } from "./bench-mapping.ts";
import { queryByBulk } from "./plain-client.ts";
import type { SyncMeasure } from "./sizes.ts";

// The org and the database are this machine's own.
guardConnections(() => null);

interface LoadOrder {
  readonly way: "engine" | "sweep" | "copy";
  readonly url: string;
  readonly org: SalesforceConnection;
  readonly object: string;
  readonly shape: TableShape;
}

interface Loaded {
  /** From the moment when the org had its results ready to the last row. */
  readonly seconds: number;
  readonly rows: number;
  readonly calls: number;
  /** Of the process. */
  readonly peakMiB: number;
}

/** The engine's first load, or a sweep, as its worker runs it. */
export async function loadByEngine({ way, url, org, object }: LoadOrder): Promise<Loaded> {
  const kind = way === "engine" ? "load" : "sweep";
  let readyAt = performance.now();
  const adapter = salesforceOf(org);
  const salesforce: typeof adapter = {
    ...adapter,
    bulkQueryRecords: async (jobId) => {
      const records = await adapter.bulkQueryRecords(jobId);
      readyAt = performance.now();
      return records;
    },
  };
  const { outcome, tally } = await runLoad(
    {
      store: openStore({ url, schema: "salesforce" }),
      salesforce,
      shared: ALONE,
      clock: systemClock,
      random: Math.random,
    },
    {
      ...{ mapping: benchMapping(object), kind, budget: FRESH_BUDGET, owner: "bench", deadline: Date.now() + 900_000 },
      writers: async () => [org.userId],
    },
  );
  if (outcome !== "done") throw new Error(`the load ended as ${outcome}`);
  const rows = kind === "load" ? tally.inserted : tally.read;
  return { seconds: secondsSince(readyAt), rows, calls: sum(Object.values(salesforce.calls())), peakMiB: peak() };
}

/** The download of a Bulk job, each part of its results piped into COPY as it comes. */
export async function loadByCopy({ url, org, shape }: LoadOrder): Promise<Loaded> {
  const { table, columns, softDeletes } = shape;
  // In the order in which the query names them.
  const own = ["sfid", "systemmodstamp", ...(softDeletes ? ["isdeleted"] : [])];
  const names = [...own, ...columns.map(({ column }) => column)].join(", ");
  const client = new Client({ connectionString: url });
  await client.connect();
  const parts = await queryByBulk({ url: org.instanceUrl, token: org.accessToken ?? "" }, everything(shape));
  const readyAt = performance.now();
  let [rows, calls] = [0, 0];
  for await (const part of parts()) {
    if (part.body === null) throw new Error("a part of the results has no body");
    const copy = client.query(
      copyFrom(`COPY salesforce.${table} (${names}) FROM STDIN (FORMAT csv, HEADER, FORCE_NULL *)`),
    );
    await pipeline(Readable.fromWeb(part.body), copy);
    rows += copy.rowCount;
    calls += 1;
  }
  const seconds = secondsSince(readyAt);
  await client.end();
  return { seconds, rows, calls, peakMiB: peak() };
}

const secondsSince = (began: number) => (performance.now() - began) / 1000;
const peak = () => process.resourceUsage().maxRSS / 1024;

/** As in the worker that loads: with all of this machine's memory before it, Node would put collecting off. */
const HEAP = `--max-old-space-size=${WORKERS["load-mapping"].memoryMegabytes}`;

/**
 * The first load against the same download piped into COPY. Each runs in a process of its own with the memory of the
 * worker that loads, on an empty database of its own; both alternate.
 */
export const measureFirstLoad: SyncMeasure = async (bench, { loaded, large, rounds }) => {
  const org = await bench.createOrg({ Load__c: loaded, Large__c: large });
  const load = async (way: "engine" | "copy", object: string, records: number): Promise<Loaded> => {
    const { url, client } = await bench.createDatabase();
    // COPY writes the same table with the same indexes, without capture.
    const shape = await provisionTable(url, org.connection, object, { captured: way === "engine" });
    await client.query("CHECKPOINT");
    const outcome = await loadApart({ way, url, org: org.connection, object, shape }, records);
    say(`${way}: ${records} records in ${outcome.seconds.toFixed(2)} s`);
    return outcome;
  };
  const [engine, copy]: [Loaded[], Loaded[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    engine.push(await load("engine", "Load__c", loaded));
    copy.push(await load("copy", "Load__c", loaded));
  }
  const [big, bigCopy] = [await load("engine", "Large__c", large), await load("copy", "Large__c", large)];
  const seconds = median(engine.map((one) => one.seconds));
  const ofCopy = median(copy.map((one) => one.seconds));
  const peak = median(engine.map(({ peakMiB }) => peakMiB));
  return [
    { name: `first load of ${loaded.toLocaleString("en")} × 20`, value: seconds, unit: "s" },
    { name: "  times the same download piped into COPY", value: seconds / ofCopy, unit: "×", atMost: 2 },
    { name: "  memory at its peak", value: peak, unit: "MiB" },
    { name: `first load of ${large.toLocaleString("en")} × 20`, value: big.seconds, unit: "s" },
    { name: "  times COPY", value: big.seconds / bigCopy.seconds, unit: "×", atMost: 2 },
    // A part of the results is a call, and so is each poll of the job; the org needs seconds for it.
    { name: "  calls", value: big.calls, unit: "", atMost: Math.ceil(large / 50_000) + 20 },
    { name: "  memory at its peak", value: big.peakMiB, unit: "MiB" },
    { name: "  times that of the smaller load", value: big.peakMiB / peak, unit: "×", atMost: 1.2 },
  ];
};

const OBJECT = "Sweep__c";
const TABLE = "salesforce.sweep__c";
const WRITTEN = "SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 AS bytes";

/** What a sweep of rows costs that are equal to their records: calls, bytes of WAL. */
export const measureSweep: SyncMeasure = async (bench, { large }): Promise<Figure[]> => {
  const org = await bench.createOrg({ [OBJECT]: large });
  const { url, client } = await bench.createDatabase();
  const shape = await provisionTable(url, org.connection, OBJECT, { captured: true });
  const order = { url, org: org.connection, object: OBJECT, shape };
  await loadApart({ ...order, way: "engine" }, large);
  say(`${large} records are loaded`);
  // As autovacuum leaves it: what it writes is not the sweep's.
  await client.query(`VACUUM ANALYZE ${TABLE}`);
  await client.query(`ALTER TABLE ${TABLE} SET (autovacuum_enabled = off)`);
  await client.query("CHECKPOINT");
  const written = async () => (await client.query<{ bytes: number }>(WRITTEN)).rows[0]?.bytes ?? Number.NaN;
  const before = await written();
  const { calls } = await loadApart({ ...order, way: "sweep" }, large);
  return [
    { name: `sweep of ${large.toLocaleString("en")} equal rows: calls`, value: calls, unit: "" },
    { name: "  WAL a row", value: ((await written()) - before) / large, unit: "B", atMost: 1 },
  ];
};

/** One way of loading or sweeping, in a process of its own, which must meet so many records. */
async function loadApart(order: LoadOrder, records: number): Promise<Loaded> {
  const outcome = await apart<Loaded>(import.meta.filename, [JSON.stringify(order)], [HEAP]);
  if (outcome.rows !== records) throw new Error(`${order.way} brought ${outcome.rows} of ${records} records`);
  return outcome;
}

// The process of one way, whose argument is its order.
if (import.meta.main) {
  const order = JSON.parse(process.argv[2] ?? "") as LoadOrder;
  answer(await (order.way === "copy" ? loadByCopy : loadByEngine)(order));
}
