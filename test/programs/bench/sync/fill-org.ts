import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { recordId } from "../../../../lib/local/org/ids.ts";
import { BENCH_FIELDS, type MoreField } from "./bench-objects.ts";

/** Fills an object of a stopped org with records, all stamped well before now. */
export function fillObject(
  dataDir: string,
  object: { readonly name: string; readonly prefix: string },
  records: number,
  more: readonly MoreField[] = [],
) {
  const database = new DatabaseSync(join(dataDir, "org.db"));
  database.exec("PRAGMA synchronous = OFF; PRAGMA cache_size = -200000");
  database.function("record_id", { deterministic: true }, (n) => recordId(object.prefix, Number(n)));
  const stamp = "strftime('%Y-%m-%dT%H:%M:%S.000Z', '2026-01-01', (n / 20) || ' seconds')";
  const us = "(SELECT Id FROM User ORDER BY Id LIMIT 1)";
  const system = ["Id", "CreatedDate", "CreatedById", "LastModifiedDate", "LastModifiedById", "SystemModstamp"];
  const fields = [...BENCH_FIELDS, ...more];
  const columns = [...system, "OwnerId", "Name", ...fields.map(({ name }) => name)];
  const values = ["record_id(n)", stamp, us, stamp, us, stamp, us, "'Record ' || n", ...fields.map(({ sql }) => sql)];
  database.exec(`
    BEGIN;
    WITH RECURSIVE series(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < ${records})
    INSERT INTO "${object.name}" (${columns.map((column) => `"${column}"`).join(", ")})
    SELECT ${values.join(", ")} FROM series;
    INSERT INTO _sequence VALUES ('${object.name}', ${records}) ON CONFLICT (name) DO UPDATE SET value = ${records};
    COMMIT`);
  database.close();
}
