import type { Lease } from "../../../sync/ports/lease-ports.ts";
import { qualified, type StoreContext } from "./sql.ts";

/** Modes in which no row of a table can be written (PostgreSQL, 13.3.1), as CREATE INDEX and ALTER TABLE take them. */
const MODES = ["ShareLock", "ShareRowExclusiveLock", "ExclusiveLock", "AccessExclusiveLock"];

/** Whether another session has locked the mapping's whole table, or waits for that, which blocks all others. */
export async function isTableLocked({ session, mapped }: StoreContext, lease: Lease): Promise<boolean> {
  const { schema, table } = mapped(lease).shape;
  const locks = await session.query(
    `SELECT FROM pg_locks l WHERE l.locktype = 'relation' AND l.relation = $1::regclass::oid AND l.mode = ANY ($2::text[])
       AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND l.pid IS DISTINCT FROM pg_backend_pid() LIMIT 1`,
    [qualified(schema, table), MODES],
  );
  return locks.length > 0;
}
