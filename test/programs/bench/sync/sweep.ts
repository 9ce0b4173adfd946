import { say } from "../figures.ts";
import { loadApart } from "../load/first-load.ts";
import { run } from "./bench-database.ts";
import { provisionTable } from "./bench-mapping.ts";
import { startBenchOrg } from "./bench-org.ts";
import type { Measure } from "./sizes.ts";

const OBJECT = "Sweep__c";
const TABLE = "salesforce.sweep__c";
const WRITTEN = "SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 AS bytes";

/** What a sweep of rows costs that are equal to their records: calls, bytes of WAL. */
export const measureSweep: Measure = async (server, { large }) => {
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
    const written = async () => (await run<{ bytes: number }>(url, WRITTEN))[0]?.bytes ?? Number.NaN;
    const before = await written();
    const { calls } = await loadApart({ ...order, way: "sweep" }, large);
    const bytes = (await written()) - before;
    return [
      { name: `sweep of ${large.toLocaleString("en")} equal rows: calls`, value: calls, unit: "" },
      { name: "  WAL a row", value: bytes / large, unit: "B", atMost: 1 },
    ];
  } finally {
    org.end();
  }
};
