import { type Lease, LeaseLost, RowsHidden } from "../../../sync/ports/lease-ports.ts";
import { literal, type Metadata, qualified, type Row, type StoreContext } from "../session/sql.ts";

/** The table whose row is a lease: cycles and long work hold theirs apart, so that neither waits for the other. */
export const leaseTable = (tables: Metadata, work: Lease["work"]): string =>
  work === "cycle" ? tables.state : tables.loads;

/**
 * Renews a lease that is still ours; an expired one is ours until another cycle acquires it. No row: it is lost.
 * Where `:seconds` is NULL the lease is only locked, and no abort is read.
 */
export const renewal = (tables: Metadata, { work }: Lease): string => `
       UPDATE ${leaseTable(tables, work)}
       SET lease_until = coalesce(clock_timestamp() + make_interval(secs => :seconds::int), lease_until)
       WHERE mapping_id = :mapping AND ${IS_OURS} AND config_version = :version
       RETURNING ${work === "cycle"} AND :seconds::int IS NOT NULL
         AND EXISTS (SELECT FROM ${tables.aborts} a WHERE a.mapping_id = :mapping AND a.fence = :fence) AS is_aborted`;

/** Whether a lease's row has it still. */
export const IS_OURS = "fence = :fence AND lease_owner = :owner";

/** The values by which a statement names a lease. */
export function ofLease({ mappingId, fence, owner, configVersion }: Lease) {
  return { mapping: mappingId, fence, owner, version: configVersion };
}

interface FencedSettings {
  readonly lockMilliseconds?: number;
  /** The same for what is locked once the lease is. */
  readonly laterLockMilliseconds?: number;
  /** Capture ignores our own statements. */
  readonly silent?: boolean;
  /** The results of calls count whatever the configuration is by now. */
  readonly anyVersion?: boolean;
  /** The server may forget it in a crash, with everything that came after it. */
  readonly commitsLater?: boolean;
  /** The mapping's own row will be changed too; it is locked before any row of the table, as cycles do. */
  readonly changesState?: boolean;
  /** Statements without parameters that are sent with the lock; their rows go to the work. They may run for a lost lease. */
  readonly then?: readonly string[];
}

/**
 * A transaction that no later fence and no change of configuration can overtake; else `LeaseLost`. All our transactions
 * lock in one order: a mapping's state, its load, the log, the totals, the customer's rows.
 */
export async function fenced<T>(
  { session, tables, mapped }: StoreContext,
  lease: Lease,
  settings: FencedSettings,
  work: (then: readonly (readonly Row[])[]) => Promise<T>,
): Promise<T> {
  const { lockMilliseconds, laterLockMilliseconds, then = [] } = settings;
  const { silent = false, anyVersion = false, changesState = false, commitsLater = false } = settings;
  const { schema, table } = mapped(lease).shape;
  const isHidden = `row_security_active(to_regclass(${literal(qualified(schema, table))})::oid) AS is_hidden`;
  const version = anyVersion ? "" : ` AND config_version = ${lease.configVersion}`;
  const first = [
    ...(changesState && lease.work === "load" ? [lockState(tables, literal(lease.mappingId))] : []),
    thenLimit(
      `SELECT ${isHidden} FROM ${leaseTable(tables, lease.work)} WHERE mapping_id = ${literal(lease.mappingId)}
        AND fence = ${lease.fence} AND lease_owner = ${literal(lease.owner)}${version} FOR NO KEY UPDATE`,
      laterLockMilliseconds,
    ),
    ...then,
  ].join(";");
  const ofTransaction = {
    ...(silent ? { silence: table } : {}),
    commitsLater,
    ...(lockMilliseconds === undefined ? {} : { lockMilliseconds }),
  };
  return await session.transaction(ofTransaction, first, async (_, answers) => {
    const [held] = answers.at(-1 - then.length) ?? [];
    if (held === undefined) throw new LeaseLost(lease);
    if (held["is_hidden"] === true) throw new RowsHidden(`${schema}.${table}`);
    return await work(answers.slice(answers.length - then.length));
  });
}

/** A SELECT of the row that this one locks; what comes after it waits no longer than that for any lock. */
const thenLimit = (lock: string, milliseconds: number | undefined) =>
  milliseconds === undefined
    ? lock
    : `WITH locked AS MATERIALIZED (${lock}) SELECT *, set_config('lock_timeout', '${milliseconds}', true) FROM locked`;

/** Locks the row of a mapping, which is an expression. */
export const lockState = ({ state }: Metadata, mapping: string): string =>
  `SELECT FROM ${state} WHERE mapping_id = ${mapping} FOR NO KEY UPDATE`;
