import { Client } from "pg";
import { loadApart } from "../load/first-load.ts";
import { type BenchServer, run } from "./bench-database.ts";
import { provisionTable } from "./bench-mapping.ts";
import { startBenchOrg } from "./bench-org.ts";
import type { Figure, Sizes } from "./figure.ts";

const OBJECT = "Sweep__c";
const TABLE = "salesforce.sweep__c";
const PAGE = 100_000;
const MANY = 10_000_000;

/** What sweeps of rows cost that are equal to their records: calls, bytes of WAL, seconds, memory. */
export async function measureSweep(
  server: BenchServer,
  { large }: Sizes,
  say: (text: string) => void,
): Promise<Figure[]> {
  const org = await startBenchOrg({ [OBJECT]: large });
  try {
    const url = await server.createDatabase();
    const shape = await provisionTable(url, org.connection, OBJECT, { captured: true });
    const order = { url, org: org.connection, object: OBJECT, shape };
    await loadApart({ ...order, way: "engine" }, large);
    say(`${large} records are loaded`);
    // As autovacuum leaves it: what it writes is not the sweep's.
    await run(url, `VACUUM ANALYZE ${TABLE}`);
    await run(url, `ALTER TABLE ${TABLE} SET (autovacuum_enabled = off)`);
    await run(url, "CHECKPOINT");
    const before = await writtenBytes(url);
    const { calls, wholeSeconds, peakMiB } = await loadApart({ ...order, way: "sweep" }, large);
    const bytes = (await writtenBytes(url)) - before;
    say(`${calls} calls, ${bytes} bytes of WAL, ${wholeSeconds.toFixed(1)} s`);
    const pages = Math.ceil(large / PAGE);
    return [
      { name: `sweep of ${large.toLocaleString("en")} equal rows: calls`, value: calls, unit: "" },
      {
        name: `  of ${MANY.toLocaleString("en")}, by its pages of ${PAGE.toLocaleString("en")}`,
        value: calls - pages + MANY / PAGE,
        unit: "",
        atMost: 120,
      },
      { name: "  WAL a row", value: bytes / large, unit: "B", atMost: 1 },
      { name: "  from the beginning to the end", value: wholeSeconds, unit: "s" },
      { name: "  memory at its peak", value: peakMiB, unit: "MiB" },
    ];
  } finally {
    org.end();
  }
}

/** How much has been written to the log of the server so far. */
async function writtenBytes(connectionString: string): Promise<number> {
  const client = new Client({ connectionString });
  await client.connect();
  const { rows } = await client.query("SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 AS bytes");
  await client.end();
  return Number(rows[0]?.bytes);
}
