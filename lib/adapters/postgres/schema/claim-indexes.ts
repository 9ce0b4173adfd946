import { CLAIM_INDEXES } from "../log/change-states.ts";
import { literal, type Metadata, metadata, qualified, type Session } from "../session/sql.ts";

/** The indexes that version 8 of the schema read instead: both held put-off changes, between those searched for. */
const REPLACED = ["_bridge_log_waiting_in_order", "_bridge_log_blocked"];

/** A statement that makes the indexes of an empty log; on any other one they are built beside its writers. `schema` is quoted. */
export const createClaimIndexes = (schema: string, { log }: Metadata): string => `
    DO $bridge$ BEGIN
      IF EXISTS (SELECT FROM ${log}) THEN RETURN; END IF;
      ${CLAIM_INDEXES.map(([index, on]) => `CREATE INDEX ${index} ON ${log} ${on};`).join("\n      ")}
      DROP INDEX ${REPLACED.map((index) => `${schema}.${index}`).join(", ")};
    END $bridge$;`;

/**
 * Builds the indexes that the log lacks without blocking its writers. An interrupted build is dropped and repeated; while
 * another session builds an index, this one does nothing.
 */
export async function buildClaimIndexes(session: Session, schema: string): Promise<void> {
  const { log } = metadata(schema);
  const found = await session.query<{ relname: string; indisvalid: boolean; is_building: boolean }>(
    `SELECT c.relname, i.indisvalid, EXISTS (SELECT FROM pg_stat_progress_create_index p WHERE p.relid = i.indrelid) AS is_building
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = to_regclass(${literal(log)})::oid`,
  );
  if (found.length === 0 || found.some(({ is_building }) => is_building)) return;
  const valid = new Map(found.map(({ relname, indisvalid }) => [relname, indisvalid]));
  const drop = (index: string) => session.query(`DROP INDEX CONCURRENTLY ${qualified(schema, index)}`);
  for (const [index, on] of CLAIM_INDEXES) {
    if (valid.get(index)) continue;
    if (valid.has(index)) await drop(index);
    await session.query(`CREATE INDEX CONCURRENTLY ${index} ON ${log} ${on}`);
  }
  for (const index of REPLACED) if (valid.has(index)) await drop(index);
}
