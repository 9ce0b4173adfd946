import { AUTOVACUUM_LIMITS, type LogAutovacuum } from "../../../model/workspace/workspace.ts";
import { literal, metadata, type Session } from "../session/sql.ts";
import { givingWay } from "./migrate.ts";

/**
 * Sets the autovacuum parameters of the log that the workspace names; all others stay as their owner has set them.
 * Writers continue meanwhile. Does nothing where they are set already.
 */
export async function tuneLog(session: Session, schema: string, asked: LogAutovacuum = {}): Promise<void> {
  const { log } = metadata(schema);
  const wanted = Object.keys(AUTOVACUUM_LIMITS).flatMap((name) =>
    asked[name] === undefined ? [] : [`autovacuum_${name}=${asked[name]}`],
  );
  if (wanted.length === 0) return;
  const look = `SELECT reloptions @> ARRAY[${wanted.map(literal).join(", ")}] AS is_set FROM pg_class WHERE oid = to_regclass(${literal(log)})::oid`;
  await givingWay(session, look, async ([found]) => {
    if (found && found["is_set"] !== true) await session.script(`ALTER TABLE ${log} SET (${wanted.join(", ")})`);
  });
}
