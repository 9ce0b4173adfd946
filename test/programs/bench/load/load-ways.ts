import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { createCycleStores } from "../../../../lib/adapters/postgres/cycle-store.ts";
import { FRESH_BUDGET } from "../../../../lib/model/calls/budget.ts";
import type { TableShape } from "../../../../lib/model/mapping/shape.ts";
import { everything, fieldsOf } from "../../../../lib/model/mapping/soql.ts";
import type { SalesforceConnection } from "../../../../lib/model/workspace/workspace.ts";
import { guardConnections } from "../../../../lib/network/guarded-dns.ts";
import { runLoad } from "../../../../lib/sync/load/run-load.ts";
import { ALONE, ask, askJson, CLOCK } from "../sync/alone.ts";
import { benchMapping, salesforceOf } from "../sync/bench-mapping.ts";

// The org and the database are this machine's own.
guardConnections(() => null);

export interface LoadOrder {
  readonly way: "engine" | "sweep" | "copy" | "pages" | "parts";
  readonly url: string;
  readonly org: SalesforceConnection;
  readonly object: string;
  readonly shape: TableShape;
}

/** Seconds from the moment when the org had its results ready to the last row; whole: from the very beginning. */
export interface Loaded {
  readonly seconds: number;
  readonly wholeSeconds: number;
  readonly rows: number;
  readonly calls: number;
  readonly cpuSeconds: number;
}

/** The engine's first load, or a sweep, as its worker runs it. */
export async function loadByEngine({ way, url, org, object }: LoadOrder): Promise<Loaded> {
  const mapping = benchMapping(object);
  const kind = way === "engine" ? "load" : "sweep";
  const began = performance.now();
  let readyAt = began;
  let readyCpu = process.cpuUsage();
  const adapter = salesforceOf(org);
  const salesforce: typeof adapter = {
    ...adapter,
    bulkQueryRecords: async (jobId) => {
      const records = await adapter.bulkQueryRecords(jobId);
      readyAt = performance.now();
      readyCpu = process.cpuUsage();
      return records;
    },
  };
  const store = await createCycleStores(() => new Date())({ url, schema: "salesforce" });
  const { outcome, tally } = await runLoad(
    { store, salesforce, shared: ALONE, clock: CLOCK, random: Math.random },
    {
      mapping,
      kind,
      budget: FRESH_BUDGET,
      writers: async () => [org.userId],
      owner: "bench",
      deadline: CLOCK.now() + 900_000,
    },
  );
  if (outcome !== "done") throw new Error(`the load ended as ${outcome}`);
  const calls = Object.values(salesforce.calls()).reduce((sum, count) => sum + count, 0);
  return { ...times(began, readyAt, readyCpu), rows: kind === "load" ? tally.inserted : tally.read, calls };
}

/** The download of a Bulk job, piped into COPY as it comes. */
export const loadByCopy = (order: LoadOrder): Promise<Loaded> =>
  loadByBulk(order, `salesforce.${order.shape.table}`, async () => undefined);

/** What a user would write with the Bulk API: each part into a temporary table, and from there by one upsert. */
export const loadByParts = (order: LoadOrder): Promise<Loaded> => {
  const { table } = order.shape;
  const names = copiedColumns(order.shape);
  return loadByBulk(order, "part", async (client, isBegun) => {
    if (isBegun)
      await client.query(`${upsertInto(table, names)} SELECT ${names.join(", ")} FROM part ${onConflict(names)}`);
    else
      await client.query(`CREATE TEMP TABLE part AS SELECT ${names.join(", ")} FROM salesforce.${table} WITH NO DATA`);
    await client.query("TRUNCATE part");
  });
};

/** What a user would write with REST: pages of 2,000, and one upsert for each. */
export async function loadByPages({ url, org, shape }: LoadOrder): Promise<Loaded> {
  const began = performance.now();
  const client = new Client({ connectionString: url });
  await client.connect();
  let [rows, calls] = [0, 0];
  for (let path: string | undefined = `/query?q=${encodeURIComponent(everything(shape))}`; path !== undefined; ) {
    const page: Page = await askJson<Page>(org, "GET", path);
    path = page.nextRecordsUrl?.replace(/^.*\/v66\.0/, "");
    calls += 1;
    rows += page.records.length;
    await upsertPage(client, shape, page.records);
  }
  const outcome = { ...times(began, began, process.cpuUsage()), rows, calls };
  await client.end();
  return outcome;
}

interface Page {
  readonly records: Readonly<Record<string, unknown>>[];
  readonly nextRecordsUrl?: string;
}

/** One upsert of the records of a page, as JSON. */
export async function upsertPage(
  client: Client,
  shape: TableShape,
  records: readonly Readonly<Record<string, unknown>>[],
): Promise<void> {
  const names = copiedColumns(shape);
  const fields = fieldsOf(shape);
  const rows = records.map((record) => Object.fromEntries(names.map((name, at) => [name, record[fields[at] ?? ""]])));
  const from = `jsonb_populate_recordset(NULL::salesforce.${shape.table}, $1)`;
  const upsert = `${upsertInto(shape.table, names)} SELECT ${names.join(", ")} FROM ${from} ${onConflict(names)}`;
  await client.query(upsert, [JSON.stringify(rows)]);
}

const upsertInto = (table: string, names: readonly string[]) => `INSERT INTO salesforce.${table} (${names.join(", ")})`;
const onConflict = (names: readonly string[]) =>
  `ON CONFLICT (sfid) DO UPDATE SET ${names.map((name) => `${name} = excluded.${name}`).join(", ")}`;

/** The parts of a Bulk job's results, each piped into COPY; `after` runs before the first part and after each. */
async function loadByBulk(
  { url, org, shape }: LoadOrder,
  into: string,
  after: (client: Client, isBegun: boolean) => Promise<void>,
): Promise<Loaded> {
  const began = performance.now();
  const client = new Client({ connectionString: url });
  await client.connect();
  let calls = 2;
  const { id } = await askJson<{ id: string }>(org, "POST", "/jobs/query", {
    operation: "query",
    query: everything(shape),
  });
  while ((await askJson<{ state: string }>(org, "GET", `/jobs/query/${id}`)).state !== "JobComplete") {
    calls += 1;
    await pause(50);
  }
  const readyAt = performance.now();
  const readyCpu = process.cpuUsage();
  let rows = 0;
  await after(client, false);
  for (let locator = ""; locator !== "null"; calls += 1) {
    const part = await ask(org, "GET", `/jobs/query/${id}/results?maxRecords=50000${locator && `&locator=${locator}`}`);
    if (part.body === null) throw new Error("a part of the results has no body");
    const copy = client.query(
      copyFrom(`COPY ${into} (${copiedColumns(shape).join(", ")}) FROM STDIN (FORMAT csv, HEADER, FORCE_NULL *)`),
    );
    await pipeline(Readable.fromWeb(part.body), copy);
    rows += copy.rowCount;
    await after(client, true);
    locator = part.headers.get("sforce-locator") ?? "null";
  }
  const outcome = { ...times(began, readyAt, readyCpu), rows, calls };
  await client.end();
  return outcome;
}

/** In the order in which the query names them. */
function copiedColumns({ columns, softDeletes }: TableShape): string[] {
  return ["sfid", "systemmodstamp", ...(softDeletes ? ["isdeleted"] : []), ...columns.map(({ column }) => column)];
}

function times(began: number, readyAt: number, readyCpu: NodeJS.CpuUsage) {
  const now = performance.now();
  const { user, system } = process.cpuUsage(readyCpu);
  return { seconds: (now - readyAt) / 1000, wholeSeconds: (now - began) / 1000, cpuSeconds: (user + system) / 1e6 };
}
