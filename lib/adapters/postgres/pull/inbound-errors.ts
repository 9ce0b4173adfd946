import { RESTORE } from "../../../model/record/restore-row.ts";
import type { Lease, Watermarks } from "../../../sync/ports/lease-ports.ts";
import { fenced } from "../lease/fence.ts";
import { movesPulls, writeWatermarks } from "../lease/watermarks.ts";
import { literal, type StoreContext, within } from "../session/sql.ts";

/** A record that could not become a row. */
export interface InboundError {
  readonly sfid: string;
  readonly error: string;
  readonly sqlState: string | null;
  /** When to read it again; null: when it changes, at each sweep, and a few times before if other rows are in its way. */
  readonly retryAt: Date | null;
}

/** What another row may end by coming, changing or going: a foreign key, a unique value, an exclusion. */
const BY_OTHER_ROWS = "('23503', '23505', '23P01')";

/** Such a record is read again when it is 10 s old, 40 s, 160 s, and so on for an hour; then it waits as all others. */
const FIRST_RETRY = "interval '10 s'";
const LAST_RETRY = "interval '1 h'";

/** Keeps what could not be applied, in a transaction of its own, with the page's marks. */
export async function keepInboundErrors(
  store: StoreContext,
  lease: Lease,
  marks: Partial<Watermarks>,
  errors: readonly InboundError[],
): Promise<void> {
  await fenced(store, lease, { changesState: movesPulls(marks) }, async () => {
    await writeInboundErrors(store, lease, errors);
    await writeWatermarks(store, lease, marks);
  });
}

/** Keeps what could not be applied, in the caller's transaction. */
export async function writeInboundErrors(
  { session, tables, now }: StoreContext,
  { mappingId }: Lease,
  errors: readonly InboundError[],
): Promise<void> {
  if (errors.length === 0) return;
  await session.query(
    `INSERT INTO ${tables.inboundErrors} AS e (mapping_id, sfid, error, sqlstate, retry_at, first_at, last_at)
     SELECT :mapping, sfid, error, sqlstate, ${retryAt("n", ":now")}, :now, :now
     FROM unnest(:sfids::text[], :errors::text[], :sqlStates::text[], :retryAts::timestamptz[]) AS n (sfid, error, sqlstate, retry_at)
     ON CONFLICT (mapping_id, sfid) DO UPDATE SET error = excluded.error, sqlstate = excluded.sqlstate,
       retry_at = ${retryAt("excluded", "e.first_at")}, last_at = excluded.last_at, attempts = e.attempts + 1`,
    {
      ...{ mapping: mappingId, now: now() },
      sfids: errors.map(({ sfid }) => sfid),
      errors: errors.map(({ error }) => error),
      sqlStates: errors.map(({ sqlState }) => sqlState),
      retryAts: errors.map(({ retryAt }) => retryAt),
    },
  );
}

function retryAt(row: string, firstAt: string): string {
  const age = `(:now::timestamptz - (${within(`${firstAt}::timestamptz`)}))`;
  return `CASE WHEN ${row}.sqlstate IS NULL OR ${row}.sqlstate NOT IN ${BY_OTHER_ROWS} THEN ${row}.retry_at
    WHEN ${age} < ${LAST_RETRY} THEN :now::timestamptz + greatest(${FIRST_RETRY}, 3::float8 * ${age}) END`;
}

/** Forgets records that Salesforce does not know any more: no reading brings them, so none would end their trouble. */
export async function forgetGone(store: StoreContext, lease: Lease, sfids: readonly string[]): Promise<void> {
  await fenced(store, lease, {}, () => clearInboundErrors(store, lease, sfids));
}

/**
 * Forgets the trouble with records that have become rows, or need none. A deleted record whose restore is asked for is
 * still to be undeleted.
 */
export async function clearInboundErrors(
  { session, tables }: StoreContext,
  { mappingId }: Lease,
  sfids: readonly string[],
  deleted: readonly string[] = [],
): Promise<void> {
  if (sfids.length === 0) return;
  await session.query(
    `DELETE FROM ${tables.inboundErrors} WHERE mapping_id = :mapping AND sfid::text = ANY (:sfids::text[])
     AND NOT (sfid::text = ANY (:deleted::text[]) AND starts_with(error, ${literal(RESTORE)}))`,
    { mapping: mappingId, sfids, deleted },
  );
}
