import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as pause } from "node:timers/promises";
import jsforce from "jsforce";
import { Client } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { createCycleStores } from "../../../../lib/adapters/postgres/cycle-store.ts";
import { hash } from "../../../../lib/model/beat.ts";
import { FRESH_BUDGET } from "../../../../lib/model/calls/budget.ts";
import type { TableShape } from "../../../../lib/model/mapping/shape.ts";
import { everything } from "../../../../lib/model/mapping/soql.ts";
import type { SalesforceConnection } from "../../../../lib/model/workspace/workspace.ts";
import { guardConnections } from "../../../../lib/network/guarded-dns.ts";
import { runLoad } from "../../../../lib/sync/load/run-load.ts";
import type { Clock } from "../../../../lib/sync/ports/cycle-ports.ts";
import { ALONE, ask, askJson, CLOCK } from "./alone.ts";
import { benchMapping, salesforceOf } from "./bench-mapping.ts";

// The org and the database are this machine's own.
guardConnections(() => null);

export interface LoadOrder {
  readonly way: "engine" | "narrow" | "whole" | "copy" | "loop";
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

/** The engine's first load, or a sweep of ids and stamps, or of all values, as its worker runs it. */
export async function loadByEngine({ way, url, org, object }: LoadOrder): Promise<Loaded> {
  const mapping = benchMapping(object);
  const kind = way === "engine" ? "load" : "sweep";
  const clock = way === "engine" ? CLOCK : dayClock(mapping.id, way === "whole");
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
    { store, salesforce, shared: ALONE, clock, random: Math.random },
    {
      mapping,
      kind,
      budget: FRESH_BUDGET,
      writers: async () => [org.userId],
      owner: "bench",
      deadline: clock.now() + 900_000,
    },
  );
  if (outcome !== "done") throw new Error(`the load ended as ${outcome}`);
  const calls = Object.values(salesforce.calls()).reduce((sum, count) => sum + count, 0);
  return { ...times(began, readyAt, readyCpu), rows: kind === "load" ? tally.inserted : tally.read, calls };
}

const DAY_MILLISECONDS = 86_400_000;

/** The machine's time on the next day on which a sweep of the mapping compares all values, or does not. */
function dayClock(mappingId: string, isWhole: boolean): Clock {
  const isDay = (days: number) =>
    ((Math.floor(Date.now() / DAY_MILLISECONDS) + days + hash(mappingId)) % 7 === 0) === isWhole;
  const ahead = DAY_MILLISECONDS * [0, 1, 2, 3, 4, 5, 6].findIndex(isDay);
  return { now: () => Date.now() + ahead, at: (at, run) => CLOCK.at(at - ahead, run) };
}

/** The download of a Bulk job, piped into COPY as it comes. */
export async function loadByCopy({ url, org, shape }: LoadOrder): Promise<Loaded> {
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
  for (let locator = ""; locator !== "null"; calls += 1) {
    const part = await ask(org, "GET", `/jobs/query/${id}/results?maxRecords=50000${locator && `&locator=${locator}`}`);
    if (part.body === null) throw new Error("a part of the results has no body");
    const copy = client.query(
      copyFrom(
        `COPY salesforce.${shape.table} (${copiedColumns(shape).join(", ")}) FROM STDIN (FORMAT csv, HEADER, FORCE_NULL *)`,
      ),
    );
    await pipeline(Readable.fromWeb(part.body), copy);
    rows += copy.rowCount;
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

/** What a user would write: query, fetch more, one upsert for each record. */
export async function loadByLoop({ url, org, shape }: LoadOrder): Promise<Loaded> {
  const began = performance.now();
  const client = new Client({ connectionString: url });
  await client.connect();
  const connection = new jsforce.Connection({
    instanceUrl: org.instanceUrl,
    accessToken: org.accessToken ?? "",
    version: "66.0",
  });
  const columns = copiedColumns(shape);
  const fields = [
    "Id",
    "SystemModstamp",
    ...(shape.softDeletes ? ["IsDeleted"] : []),
    ...shape.columns.map(({ field }) => field),
  ];
  const upsert = `INSERT INTO salesforce.${shape.table} (${columns.join(", ")}) VALUES (${columns.map((_, at) => `$${at + 1}`).join(", ")})
    ON CONFLICT (sfid) DO UPDATE SET ${columns
      .slice(1)
      .map((column) => `${column} = excluded.${column}`)
      .join(", ")}`;
  let rows = 0;
  let calls = 0;
  for (
    let page = await connection.query(`SELECT ${fields.join(", ")} FROM ${shape.sfObject}`);
    ;
    page = await connection.queryMore(page.nextRecordsUrl ?? "")
  ) {
    calls += 1;
    for (const record of page.records) {
      await client.query(
        upsert,
        fields.map((field) => record[field]),
      );
      rows += 1;
    }
    if (page.done) break;
  }
  const outcome = { ...times(began, began, process.cpuUsage()), rows, calls };
  await client.end();
  return outcome;
}

function times(began: number, readyAt: number, readyCpu: NodeJS.CpuUsage) {
  const now = performance.now();
  const { user, system } = process.cpuUsage(readyCpu);
  return { seconds: (now - readyAt) / 1000, wholeSeconds: (now - began) / 1000, cpuSeconds: (user + system) / 1e6 };
}
