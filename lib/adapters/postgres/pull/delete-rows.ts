import { mergedInto } from "../../../model/record/incoming.ts";
import type { WaitingChange } from "../../../model/record/merge.ts";
import type { Image } from "../../../model/record/record.ts";
import type { Lease } from "../../../sync/ports/lease-ports.ts";
import type { Page } from "../../../sync/ports/pull-ports.ts";
import { allowanceOfDeletes } from "../log/delete-breaker.ts";
import { refuseChanges } from "../log/refuse-changes.ts";
import { type MappedTable, name, qualified, type StoreContext } from "../session/sql.ts";
import type { Judged } from "./merge-rows.ts";

/** A row whose record was deleted in Salesforce. */
interface Deletion {
  readonly key: number;
  readonly image: Image;
  readonly waiting: readonly WaitingChange[];
}

/**
 * Deletes rows and leaves tombstones; their waiting changes end FAILED, values kept in the log. Deletes beyond what
 * the breaker allows in an hour, and of what may only be hidden, are held until an operator confirms.
 */
export async function deleteRows(
  store: StoreContext,
  lease: Lease,
  mapped: MappedTable,
  deletions: readonly Deletion[],
  { readAt, lane }: Pick<Page, "readAt" | "lane">,
): Promise<{ readonly deleted: number; readonly held: number }> {
  if (deletions.length === 0) return { deleted: 0, held: 0 };
  const confirmed = await confirmedDeletes(store, lease, deletions);
  const fresh = deletions.filter(({ image }) => !confirmed.has(image.sfid));
  const allowance = lane === "vanished" ? 0 : await allowanceOfDeletes(store, mapped, true, fresh.length);
  const held = fresh.slice(allowance);
  const carriedOut = [...deletions.filter(({ image }) => confirmed.has(image.sfid)), ...fresh.slice(0, allowance)];
  await hold(store, lease, held, readAt);
  if (carriedOut.length > 0) await carryOut(store, lease, mapped, carriedOut, reasonOf(lane));
  return { deleted: carriedOut.length, held: held.length };
}

const reasonOf = (lane: Page["lane"]): string => (lane === "outside" ? "left the filter" : "deleted in Salesforce");

async function confirmedDeletes(
  { session, tables }: StoreContext,
  { mappingId }: Lease,
  deletions: readonly Deletion[],
) {
  const rows = await session.query<{ sfid: string }>(
    `DELETE FROM ${tables.heldDeletes} WHERE mapping_id = $1 AND confirmed AND sfid::text = ANY ($2::text[]) RETURNING sfid`,
    [mappingId, deletions.map(({ image }) => image.sfid)],
  );
  return new Set(rows.map(({ sfid }) => sfid));
}

async function hold(
  { session, tables, now }: StoreContext,
  { mappingId }: Lease,
  held: readonly Deletion[],
  readAt: Date,
): Promise<void> {
  if (held.length === 0) return;
  await session.query(
    `INSERT INTO ${tables.heldDeletes} (mapping_id, sfid, stamp, read_at, held_at)
     SELECT :mapping, h.sfid, h.stamp, :readAt, :now FROM unnest(:sfids::text[], :stamps::timestamptz[]) AS h (sfid, stamp)
     ON CONFLICT (mapping_id, sfid) DO UPDATE SET stamp = excluded.stamp, read_at = excluded.read_at`,
    {
      ...{ mapping: mappingId, readAt, now: now() },
      sfids: held.map(({ image }) => image.sfid),
      stamps: held.map(({ image }) => image.systemModstamp),
    },
  );
}

async function carryOut(
  store: StoreContext,
  { mappingId }: Lease,
  mapped: MappedTable,
  deletions: readonly Deletion[],
  reason: string,
): Promise<void> {
  const { session, tables, now } = store;
  const { shape, layout } = mapped;
  await session.query(
    `WITH gone AS (
       SELECT * FROM unnest(:keys::bigint[], :sfids::text[], :stamps::timestamptz[]) AS g (key, sfid, stamp)
     ), tombstones AS (
       INSERT INTO ${tables.tombstones} (mapping_id, sfid, record_id, reason, by_salesforce, stamp, deleted_at)
       SELECT :mapping, sfid, key, :reason, true, stamp, :now FROM gone
     ), unheld AS (
       DELETE FROM ${tables.heldDeletes} h USING gone WHERE h.mapping_id = :mapping AND h.sfid::text = gone.sfid
     )
     DELETE FROM ${qualified(shape.schema, shape.table)} t USING gone WHERE t.${name(layout.key)} = gone.key`,
    {
      ...{ mapping: mappingId, reason, now: now() },
      keys: deletions.map(({ key }) => key),
      sfids: deletions.map(({ image }) => image.sfid),
      stamps: deletions.map(({ image }) => image.systemModstamp),
    },
  );
  const overruled = deletions.flatMap(({ waiting, image }) =>
    waiting.filter(({ isSent }) => !isSent).map(({ id }) => ({ id, reason: overruling(image) })),
  );
  await refuseChanges(store, mapped, overruled);
}

const overruling = ({ mergedInto: master }: Image): string =>
  `CONFLICT: ${master ? mergedInto(master) : "the record was deleted in Salesforce, which wins"}`;

/** A record that is alive again needs no deletion any more. */
export async function dropHolds(
  { session, tables }: StoreContext,
  { mappingId }: Lease,
  held: readonly string[],
  judged: readonly Judged[],
): Promise<void> {
  const alive = judged
    .filter(({ verdict }) => verdict.kind === "update" || verdict.kind === "merge")
    .map(({ image }) => image.sfid)
    .filter((sfid) => held.includes(sfid));
  if (alive.length === 0) return;
  await session.query(`DELETE FROM ${tables.heldDeletes} WHERE mapping_id = $1 AND sfid::text = ANY ($2::text[])`, [
    mappingId,
    alive,
  ]);
}
