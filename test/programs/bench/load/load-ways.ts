import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Client } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { systemClock } from "../../../../lib/local/clock.ts";
import { FRESH_BUDGET } from "../../../../lib/model/calls/budget.ts";
import type { TableShape } from "../../../../lib/model/mapping/shape.ts";
import { everything } from "../../../../lib/model/mapping/soql.ts";
import type { SalesforceConnection } from "../../../../lib/model/workspace/workspace.ts";
import { guardConnections } from "../../../../lib/network/guarded-dns.ts";
import { runLoad } from "../../../../lib/sync/load/run-load.ts";
import { answer } from "../apart.ts";
import { sum } from "../figures.ts";
import { ALONE, benchMapping, openStore, salesforceOf } from "../sync/bench-mapping.ts";
import { queryByBulk } from "../sync/plain-client.ts";

// The org and the database are this machine's own.
guardConnections(() => null);

export interface LoadOrder {
  readonly way: "engine" | "sweep" | "copy";
  readonly url: string;
  readonly org: SalesforceConnection;
  readonly object: string;
  readonly shape: TableShape;
}

export interface Loaded {
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

/** This file as a program, which loads as its argument says. */
export const LOAD_PROGRAM: string = import.meta.filename;
if (import.meta.main) {
  const order = JSON.parse(process.argv[2] ?? "") as LoadOrder;
  answer(await (order.way === "copy" ? loadByCopy : loadByEngine)(order));
}
