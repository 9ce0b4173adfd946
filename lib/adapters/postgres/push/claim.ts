import { randomUUID } from "node:crypto";
import type { ClaimedChange } from "../../../model/change/change.ts";
import { type Lease, LeaseLost, type Renewal } from "../../../sync/cycle/ports.ts";
import { fenced, leaseTable, renewal, type Workbench } from "../lease/fence.ts";
import { changeOf, changesFrom } from "../log/change-rows.ts";
import { holdExcessDeletes } from "../log/delete-breaker.ts";
import { BEGINNING, unsorted } from "../log/log-index.ts";
import { nameInHand, UNCLAIMED_STATE } from "../log/pending-registry.ts";
import { hasFailed } from "../log/predicates.ts";
import { endedInDoubt } from "../pull/in-doubt-inserts.ts";
import type { MappedTable } from "../session/layout.ts";
import type { Row } from "../session/session.ts";
import { name, numberArray, qualified } from "../session/sql.ts";
import { claimStatement, type Found } from "./claim-candidates.ts";
import { lockOwedRows, writeLocked } from "./write-back.ts";

/** How much to claim at most, behind which id to look for it, and which batches hold nothing back. */
interface Wanted {
  readonly limit: number;
  readonly after: number;
  readonly besides: readonly string[];
  /** Whether many changes may be claimed by reading them. */
  readonly mayRead: boolean;
  /** What was claimed so, and is to be sent as it was read: its rows are left alone. */
  readonly onlyRead: readonly number[];
}

/** What one claim gave, and behind which id the next one of the same lease looks. */
export interface Claimed {
  readonly changes: readonly ClaimedChange[];
  /** The row of `_bridge_in_hand` that names them where they are PENDING. */
  readonly claimId: string | null;
  readonly next: number;
  /** What the changes were read as; null: they are PENDING. */
  readonly versions: readonly string[] | null;
  /** Their rows, by key. */
  readonly knownRows: ReadonlyMap<number, KnownRow>;
}

/** A row as it was when all that waits of it was claimed. */
export interface KnownRow {
  /** The transaction that had last written it, by which it is known again. */
  readonly version: string;
  /** The sfid that it and all these changes have; null: they don't have one. */
  readonly sfid: string | null;
}

/**
 * NEW changes that are due, in log order, as PENDING, and with them what failed before on the same rows: a newer change
 * carries it (`isCarried`), and so gives it another try; one whose insert ended in doubt stays sent, so that it is
 * looked up again instead of sent. A change that is in doubt, waits for its retry, is held,
 * or whose result its row was not told yet, holds back its row and later changes of the same sfid or upsert value, and
 * nothing else.
 *
 * Many changes are only read: they become PENDING, if they are still what was read, with the batch that they are sent in
 * (`takeRead`), so that each is written once on its way instead of twice.
 *
 * What is found and read comes with the opening of the transaction: a claim of many takes two round trips.
 */
export async function claim(bench: Workbench, lease: Lease, wanted: Wanted): Promise<Claimed> {
  const { tables, session, now } = bench;
  const mapped = bench.mapped(lease);
  const { limit, besides, onlyRead } = wanted;
  const looking = (after: number, mayRead: boolean) =>
    unsorted(claimStatement(tables, mapped, { now: now(), limit, after, besides, mayRead }));
  const then = [lockOwedRows(bench, mapped), ...looking(wanted.after, wanted.mayRead)];

  return await fenced(bench, lease, { silent: true, then }, async ([owed = [], , first = []]) => {
    await writeLocked(bench, mapped, owed);
    let { after, mayRead } = wanted;
    const look = async () => (await session.script(looking(after, mayRead).join(";")))[1] ?? [];
    // Rows that were told now hold nothing back any more.
    for (let rows = owed.length === 0 ? first : await look(); ; rows = await look()) {
      const found = foundIn(rows);
      if (found.found === 0 && after > BEGINNING) {
        after = BEGINNING;
      } else if (!found.isRead) {
        const claimed = await claimByWriting(bench, lease, found, { limit, onlyRead });
        if (claimed) return claimed;
      } else if (rows.some((row) => row["action"] === "DELETE")) {
        mayRead = false; // there may be too many
      } else {
        const { versions } = found;
        const next = placeAfter(found, limit);
        return { changes: rows.map(changeOf), claimId: null, next, versions, knownRows: knownRows(rows, null) };
      }
    }
  });
}

/**
 * Null: some deletes were too many and are held now, which may hold back what was claimed with them; all is NEW again.
 * Where so many are that this claim has held enough, it ends with nothing, and the next one goes on.
 */
async function claimByWriting(
  bench: Workbench,
  lease: Lease,
  found: Found,
  { limit, onlyRead }: Pick<Wanted, "limit" | "onlyRead">,
): Promise<Claimed | null> {
  const mapped = bench.mapped(lease);
  const claimId = randomUUID();
  const locked = await lockWhole(bench, mapped, found.recordIds ?? [], onlyRead);
  const rows = await take(bench, lease, mapped, claimId, locked.ids);
  const excess = await holdExcessDeletes(bench, mapped, claimId, rows);
  if (excess === "held") return null;
  if (excess === "more") return { changes: [], claimId, next: BEGINNING, versions: null, knownRows: new Map() };
  return {
    changes: rows.map(changeOf),
    claimId,
    next: placeAfter(found, limit),
    versions: null,
    knownRows: knownRows(rows, locked.versions),
  };
}

/** What the first row of an answer tells of all. */
function foundIn([first]: readonly Row[]): Found {
  if (!first) throw new Error("PostgreSQL told nothing of what can be claimed");
  return first["found"] as Found;
}

/** Where a claim was filled, the next one goes on behind it instead of looking through what is under way again. */
function placeAfter({ found, fit, last }: Found, limit: number): number {
  return last !== null && (fit < found || found === limit) ? last : BEGINNING;
}

function knownRows(rows: readonly Row[], versions: RowVersions | null): ReadonlyMap<number, KnownRow> {
  const known = new Map<number, KnownRow>();
  for (const { record_id, row_version, sfid, has_sfid } of rows) {
    const key = Number(record_id);
    const version = versions ? versions[key] : row_version;
    if (typeof version !== "string") continue;
    const isShared = has_sfid === true && known.get(key)?.sfid !== null;
    known.set(key, { version, sfid: isShared ? String(sfid) : null });
  }
  return known;
}

/** By key of the row; what is not told is not there. */
type RowVersions = Readonly<Record<string, string>>;

interface Locked {
  readonly ids: readonly number[];
  readonly versions: RowVersions;
}

/** Locks all NEW and failed changes of these rows; a row of which somebody holds one, or the caller does, is left out. */
async function lockWhole(
  { session, tables }: Workbench,
  { shape, layout }: MappedTable,
  recordIds: readonly string[],
  onlyRead: readonly number[],
): Promise<Locked> {
  if (recordIds.length === 0) return { ids: [], versions: {} };
  const key = name(layout.key);
  // From a subquery, or the planner would weigh each of some thousand keys against what is most common among them.
  const [found] = await session.query<{
    whole: [number, number][] | null;
    locked: number[];
    versions: RowVersions;
  }>(
    `WITH whole AS MATERIALIZED (
       SELECT id, record_id FROM ${tables.log}
       WHERE table_name = $1 AND record_id = ANY ((SELECT $2::bigint[])::bigint[]) AND processed_at IS NULL AND state = 'NEW'
       UNION ALL
       SELECT id, record_id FROM ${tables.log} f
       WHERE table_name = $1 AND record_id = ANY ((SELECT $2::bigint[])::bigint[]) AND ${hasFailed("f")} AND NOT superseded
     ), locked AS MATERIALIZED (
       SELECT id FROM ${tables.log} WHERE id = ANY (ARRAY(SELECT id FROM whole WHERE id <> ALL ($3::bigint[])))
       FOR NO KEY UPDATE SKIP LOCKED
     )
     SELECT (SELECT to_json(coalesce(array_agg(id), '{}')) FROM locked) AS locked,
       (SELECT coalesce(json_object_agg(t.${key}, t.xmin::text), '{}') FROM ${qualified(shape.schema, shape.table)} t
        WHERE t.${key} = ANY ((SELECT $2::bigint[])::bigint[])) AS versions,
       CASE WHEN (SELECT count(*) FROM whole) > (SELECT count(*) FROM locked)
         THEN (SELECT jsonb_agg(jsonb_build_array(id, record_id)) FROM whole) END AS whole`,
    [shape.table, `{${recordIds.join(",")}}`, numberArray(onlyRead)],
  );
  const versions = found?.versions ?? {};
  if (!found?.whole) return { ids: found?.locked ?? [], versions };
  const locked = new Set(found.locked);
  const torn = new Set(found.whole.filter(([id]) => !locked.has(id)).map(([, recordId]) => recordId));
  return { ids: found.whole.filter(([, recordId]) => !torn.has(recordId)).map(([id]) => id), versions };
}

async function take(
  { session, tables, now }: Workbench,
  lease: Lease,
  mapped: MappedTable,
  claimId: string,
  ids: readonly number[],
): Promise<readonly Row[]> {
  if (ids.length === 0) return [];
  return await session.query(
    `WITH named AS (
       ${nameInHand(tables, { id: "$5", table: "$1", ids: "$4::bigint[]" })}
     ), claimed AS (
       UPDATE ${tables.log} l SET state = CASE WHEN l.state = 'NEW' THEN 'PENDING' ELSE l.state END, fence = $2,
         updated_at = $3, due_at = NULL, last_operation = CASE WHEN l.state = 'FAILED' THEN l.last_operation END,
         batch_id = CASE WHEN ${endedInDoubt("l")} THEN l.batch_id END, sent_at = CASE WHEN ${endedInDoubt("l")} THEN l.sent_at END
       WHERE l.id = ANY ($4::bigint[])
       RETURNING l.*
     )
     ${changesFrom("claimed", mapped)}`,
    [mapped.shape.table, lease.fence, now(), numberArray(ids), claimId],
  );
}

interface Marked {
  readonly batchId: string;
  readonly ids: readonly number[];
  /** Null: the lease is not renewed. */
  readonly leaseSeconds: number | null;
}

/** Marks claimed changes as sent, just before the call; one round trip. */
export async function markSent(
  { session, tables, now }: Workbench,
  lease: Lease,
  { batchId, ids, leaseSeconds }: Marked,
): Promise<Renewal> {
  const [row] = await session.query<{ marked: number; is_aborted: boolean | null }>(
    `WITH lease AS (${renewal(tables, lease, "$7")}), marked AS (
       UPDATE ${tables.log} SET batch_id = $5, sent_at = $6
       WHERE id = ANY ($4::bigint[]) AND state IN ('PENDING', 'FAILED') AND fence = $2
         AND EXISTS (SELECT FROM lease WHERE NOT is_aborted)
       RETURNING id)
     SELECT (SELECT count(*) FROM marked) AS marked, (SELECT is_aborted FROM lease) AS is_aborted`,
    [lease.mappingId, lease.fence, lease.configVersion, numberArray(ids), batchId, now(), leaseSeconds],
  );
  if (row?.is_aborted) return "aborted";
  if (row?.marked !== ids.length) throw new LeaseLost(lease);
  return "held";
}

/**
 * Makes claimed changes NEW again that were not sent, as long as nobody else has the lease; one round trip. `handled`: the
 * rows of `_bridge_in_hand` that name none but these.
 */
export async function release(
  bench: Workbench,
  lease: Lease,
  ids: readonly number[],
  handled: readonly string[],
): Promise<void> {
  await bench.session.query(
    `WITH lease AS (
       SELECT FROM ${leaseTable(bench.tables, lease.work)} WHERE mapping_id = $4 AND fence = $2 FOR NO KEY UPDATE
     ), handled AS (
       DELETE FROM ${bench.tables.inHand} WHERE id = ANY ($5::text[]) AND EXISTS (SELECT FROM lease)
     )
     UPDATE ${bench.tables.log} SET state = ${UNCLAIMED_STATE}, fence = NULL, batch_id = NULL, sent_at = NULL, updated_at = $3
     WHERE id = ANY ($1::bigint[]) AND state IN ('PENDING', 'FAILED') AND fence = $2 AND EXISTS (SELECT FROM lease)`,
    [ids, lease.fence, bench.now(), lease.mappingId, handled],
  );
}
