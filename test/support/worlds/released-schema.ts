import { readFileSync } from "node:fs";
import { join } from "node:path";
import { provisionerOf } from "../../../functions/services/cycle-services.ts";
import type { SyncWorld } from "./sync-world.ts";

/** Bridge's own tables as versions 0.1 and 0.2 made them, frozen: schema version 8. */
const RELEASED_SCHEMA = readFileSync(join(import.meta.dirname, "../../contracts/released-1-schema.sql"), "utf8");

/** Puts the released version's own tables in place of this one's, and upgrades them. */
export async function becomeUpgraded(world: Pick<SyncWorld, "sql" | "workspaceId">): Promise<void> {
  await becomeReleased(world);
  await (await provisionerOf(world.workspaceId)).provisioner.upgrade(world.workspaceId);
}

/**
 * Puts the released version's own tables in place of this one's. Mapped tables, their triggers, and what both versions
 * keep of mappings stay.
 */
export async function becomeReleased({ sql, workspaceId }: Pick<SyncWorld, "sql" | "workspaceId">): Promise<void> {
  await sql(`ALTER SCHEMA salesforce RENAME TO today; ${RELEASED_SCHEMA}`);
  await sql("UPDATE salesforce._bridge_meta SET workspace_id = $1", [workspaceId]);
  await sql(`DO $$ DECLARE one record; BEGIN
    FOR one IN SELECT relname FROM pg_class WHERE relnamespace = 'today'::regnamespace AND relkind = 'r'
      AND NOT starts_with(relname, '_')
    LOOP EXECUTE format('ALTER TABLE today.%I SET SCHEMA salesforce', one.relname); END LOOP;
    FOR one IN SELECT proname FROM pg_proc WHERE pronamespace = 'today'::regnamespace
      AND starts_with(proname, '_bridge_') AND proname <> '_bridge_detach'
    LOOP EXECUTE format('ALTER FUNCTION today.%I() SET SCHEMA salesforce', one.proname); END LOOP;
    FOR one IN SELECT unnest(ARRAY['_bridge_state', '_bridge_loads', '_bridge_totals', '_trigger_log']) AS relname LOOP
      EXECUTE (SELECT format('INSERT INTO salesforce.%1$I (%2$s) SELECT %2$s FROM today.%1$I', one.relname, string_agg(quote_ident(a.attname), ', '))
        FROM pg_attribute a JOIN pg_attribute b ON b.attname = a.attname AND b.attrelid = format('today.%I', one.relname)::regclass
        WHERE a.attrelid = format('salesforce.%I', one.relname)::regclass AND a.attnum > 0 AND NOT a.attisdropped);
    END LOOP;
  END $$`);
  await sql(`DROP SCHEMA today CASCADE;
    SELECT setval(pg_get_serial_sequence('salesforce._trigger_log', 'id'), (SELECT coalesce(max(id), 0) + 1 FROM salesforce._trigger_log))`);
}
