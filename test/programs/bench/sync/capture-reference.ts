/** A mapped column of a measured table. */
export interface ReferenceColumn {
  readonly column: string;
}

/**
 * Triggers and functions as version 0.2 made them (commit 71a291d), against which today's are measured in the same run:
 * multiples of the plain write differ by machine. The table is one of ours, so its key is `id`.
 */
export function referenceCapture(table: string, columns: readonly ReferenceColumn[]): string {
  const names = columns.map(({ column }) => column);
  const on = `"salesforce"."${table}"`;
  const log = '"salesforce"."_trigger_log"';
  const row = (alias: string) =>
    `jsonb_object(ARRAY[${names.map((one) => `'${one}'`).join(", ")}], ARRAY[${names.map((one) => `${alias}."${one}"::text`).join(", ")}])`;
  const differs = (of: readonly string[], left: string, right: string) => {
    const side = (alias: string) => of.map((one) => `${alias}."${one}"`).join(", ");
    return `(ROW(${side(left)}) IS DISTINCT FROM ROW(${side(right)}))`;
  };
  const changed = (alias: string) => {
    const parts = names.map(
      (one) =>
        `CASE WHEN ${differs([one], "o", "n")} THEN '"${one}":' || coalesce(to_json(${alias}."${one}"::text)::text, 'null') END`,
    );
    return `('{' || array_to_string(ARRAY[${parts.join(", ")}], ',') || '}')::jsonb`;
  };
  const settings = `LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp SET timezone = 'UTC' SET datestyle = 'ISO, MDY' SET enable_nestloop = 'off'`;
  const logging = (kind: string, rows: string) => `
    CREATE FUNCTION salesforce.reference_${kind}_${table}() RETURNS trigger ${settings}
    AS $bridge$ BEGIN
      INSERT INTO ${log} (action, table_name, record_id, sfid, old, "values") ${rows};
      RETURN NULL;
    END $bridge$;`;
  const isCaptured = `(current_setting('bridge.in_sync', true) IS DISTINCT FROM '${table}' OR pg_trigger_depth() > 0)`;
  const run = (kind: string) => `EXECUTE FUNCTION salesforce.reference_${kind}_${table}()`;
  return `
    ${logging("insert", `SELECT 'INSERT', '${table}', n."id", n.sfid, NULL, ${row("n")} FROM new_rows n`)}
    ${logging(
      "update",
      `SELECT 'UPDATE', '${table}', n."id", n.sfid, ${changed("o")}, ${changed("n")}
       FROM old_rows o JOIN new_rows n ON n."id" = o."id" WHERE ${differs(names, "o", "n")}`,
    )}
    CREATE FUNCTION salesforce.reference_rekey_${table}() RETURNS trigger ${settings}
    AS $bridge$ BEGIN RAISE 'no key is changed here'; END $bridge$;
    CREATE FUNCTION salesforce.reference_mark_${table}() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
    AS $bridge$ BEGIN NEW._ab_lastop := 'PENDING'; NEW._ab_err := NULL; RETURN NEW; END $bridge$;
    ALTER TABLE ${on} ALTER COLUMN _ab_lastop SET DEFAULT 'PENDING';
    CREATE TRIGGER _bridge_insert AFTER INSERT ON ${on} REFERENCING NEW TABLE AS new_rows
      FOR EACH STATEMENT WHEN (${isCaptured}) ${run("insert")};
    CREATE TRIGGER _bridge_update AFTER UPDATE ON ${on} REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
      FOR EACH STATEMENT WHEN (${isCaptured}) ${run("update")};
    CREATE TRIGGER _bridge_rekey AFTER UPDATE OF "id" ON ${on}
      FOR EACH ROW WHEN (OLD."id" IS DISTINCT FROM NEW."id") ${run("rekey")};
    CREATE TRIGGER zz_bridge_insert BEFORE INSERT ON ${on}
      FOR EACH ROW WHEN ((NEW._ab_lastop IS DISTINCT FROM 'PENDING' OR NEW._ab_err IS NOT NULL) AND ${isCaptured}) ${run("mark")};
    CREATE TRIGGER zz_bridge_update BEFORE UPDATE ON ${on}
      FOR EACH ROW WHEN (${differs(names, "OLD", "NEW")} AND ${isCaptured}) ${run("mark")};`;
}
