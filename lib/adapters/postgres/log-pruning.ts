import { secureFunctions, UNLESS_OWN_TABLE } from "./own-functions.ts";
import type { Session } from "./session.ts";
import { literal, type Metadata, metadata, name } from "./sql.ts";

/** Writers of mapped tables stand behind whoever waits for the log, so not for long. */
const LOCK_MILLISECONDS = 500;

/**
 * Lets the log tell the greatest id that was ever taken out of it, in `pruned_to` of its totals: how many rows lie between two
 * of the log stays as it is, once no row can come between them, until one is taken out (`log-milestones.ts`). A trigger of
 * the table tells, whoever takes them out, a cycle of any version or a person. `schema` is quoted.
 */
export function tellPruned(schema: string, { log, totals }: Metadata): string {
  const body = `BEGIN ${UNLESS_OWN_TABLE}
      INSERT INTO ${totals} AS t (table_name, pruned_to) SELECT table_name, max(id) FROM gone GROUP BY table_name
      ON CONFLICT (table_name) DO UPDATE SET pruned_to = excluded.pruned_to WHERE t.pruned_to < excluded.pruned_to;
      RETURN NULL;
    END`;
  return `
    LOCK TABLE ${log} IN SHARE ROW EXCLUSIVE MODE;
    ALTER TABLE ${totals} ADD COLUMN IF NOT EXISTS pruned_to bigint NOT NULL DEFAULT 0;
    COMMENT ON COLUMN ${totals}.pruned_to IS 'The greatest id that was ever taken out of the trigger log.';
    CREATE OR REPLACE FUNCTION ${schema}._bridge_log_pruned() RETURNS trigger
      LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS ${literal(body)};
    DROP TRIGGER IF EXISTS ${TRIGGER} ON ${log};
    CREATE TRIGGER ${TRIGGER} AFTER DELETE ON ${log} REFERENCING OLD TABLE AS gone
      FOR EACH STATEMENT EXECUTE FUNCTION ${schema}._bridge_log_pruned();`;
}

const TRIGGER = "_bridge_pruned";

/** Does so to a log in use that does not tell it yet; rejects where somebody writes it for longer than writers may wait. */
export async function letPruningTell(session: Session, schema: string): Promise<void> {
  const tables = metadata(schema);
  const [found] = await session.query<{ log: boolean; tells: boolean }>(
    `SELECT to_regclass($1) IS NOT NULL AS log,
       EXISTS (SELECT FROM pg_trigger WHERE tgrelid = to_regclass($1) AND tgname = $2) AS tells`,
    [tables.log, TRIGGER],
  );
  if (!found?.log || found.tells) return;
  await session.transaction({ lockMilliseconds: LOCK_MILLISECONDS }, "SELECT 1", () =>
    session.script(`${tellPruned(name(schema), tables)}${secureFunctions(schema)}`),
  );
}
