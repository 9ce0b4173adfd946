import { AUTO, allowedDeletes } from "../../../model/mapping/delete-breaker.ts";
import { WriteUndone } from "../../../sync/ports/lease-ports.ts";
import { literal, type MappedTable, qualified, type Row, type StoreContext } from "../session/sql.ts";
import { setsBlockedKey } from "./blocked-keys.ts";
import { isClaimed, isReady, logOrder, UNCLAIMED_STATE, unsorted } from "./change-states.ts";

/**
 * Holds the deletes among claimed changes that are more than an hour may bring to Salesforce, until an operator
 * decides, and with them what comes after those, also what something else holds back still. When there are any,
 * everything that was claimed is what it was before. "more": there may be further ones, and enough were held at once. A
 * carried delete does not count: it was let through before it was refused.
 */
export async function holdExcessDeletes(
  store: StoreContext,
  mapped: MappedTable,
  claimId: string,
  claimed: readonly Row[],
): Promise<"none" | "held" | "more"> {
  const deletes = claimed.filter(
    (row) => row["action"] === "DELETE" && row["sfid"] !== null && !row["confirmed"] && row["state"] !== "FAILED",
  );
  if (deletes.length === 0) return "none";
  const allowance = await allowanceOfDeletes(store, mapped, false, deletes.length);
  if (deletes.length <= allowance) return "none";
  const released = await store.session.query(
    `WITH handled AS (DELETE FROM ${store.tables.pendingRegistry} WHERE id = $4)
     UPDATE ${store.tables.log} l SET state = ${UNCLAIMED_STATE}, fence = NULL, updated_at = $3, held = id = ANY ($2::bigint[])${setsBlockedKey(mapped, "id = ANY ($2::bigint[])")}
     WHERE id = ANY ($1::bigint[]) RETURNING id`,
    [claimed.map((row) => row["id"]), deletes.slice(allowance).map((row) => row["id"]), store.now(), claimId],
  );
  if (released.length !== claimed.length) throw new WriteUndone(store.tables.log);
  return await holdAfter(store, mapped, Number(deletes[allowance]?.["id"]));
}

/** Deletes that one statement holds, or lets go: it takes about half a second. */
export const HELD_AT_ONCE = 20_000;

/** Such statements in one transaction: some seconds, and what was held stays so should the cycle end. */
const PARTS_AT_ONCE = 10;

/**
 * Holds the deletes after one that is: each claim would find the next of them, beside ever more that are held already.
 * An application that empties a table deletes all of it.
 */
async function holdAfter(store: StoreContext, mapped: MappedTable, id: number): Promise<"held" | "more"> {
  let last = id;
  for (let part = 0; part < PARTS_AT_ONCE; part += 1) {
    const [, held = []] = await store.session.script(unsorted(holding(store, mapped, last)).join(";"));
    const newest = held[0]?.["last"];
    if (typeof newest !== "number") return "held";
    last = newest;
  }
  return "more";
}

function holding({ tables, now }: StoreContext, mapped: MappedTable, after: number): string {
  const { shape } = mapped;
  return `WITH held AS (
      UPDATE ${tables.log} l SET held = true, updated_at = ${literal(now().toISOString())}${setsBlockedKey(mapped)} WHERE id = ANY (ARRAY(
        SELECT l.id FROM ${tables.log} l WHERE ${isReady("l", literal(shape.table))} AND l.id > ${after}
          AND l.state::text = 'NEW' AND l.action::text = 'DELETE' AND l.sfid IS NOT NULL AND NOT l.confirmed
        ORDER BY ${logOrder("l")} LIMIT ${HELD_AT_ONCE} FOR NO KEY UPDATE SKIP LOCKED))
      RETURNING id
    ) SELECT max(id) AS last FROM held`;
}

/**
 * How many of the wanted deletes may pass now, on the side of rows (by Salesforce) or of records. What is known of the
 * mapping is asked only where less does not suffice, and the table is never counted: rows are locked meanwhile.
 */
export async function allowanceOfDeletes(
  store: StoreContext,
  mapped: MappedTable,
  bySalesforce: boolean,
  wanted: number,
): Promise<number> {
  const { deleteLimit = AUTO } = mapped.shape;
  if (wanted === 0 || deleteLimit === "off") return wanted;
  const recent = await recentDeletes(store, mapped, bySalesforce);
  const known = { rows: 0, busiestHour: 0 };
  const isEnough = () => recent + wanted <= allowedDeletes(deleteLimit, known);
  // Rows that an application deletes may be gone already from what PostgreSQL knows.
  if (!isEnough()) known.rows = Math.max(await estimatedRows(store, mapped), recent + wanted);
  if (!isEnough() && deleteLimit === AUTO) known.busiestHour = await busiestHour(store, mapped, bySalesforce);
  return Math.max(0, Math.min(wanted, allowedDeletes(deleteLimit, known) - recent));
}

/** Deletes of the last hour. What is under way, in a job of the Bulk API most likely, has passed too. */
async function recentDeletes(
  { session, tables, now }: StoreContext,
  { shape }: MappedTable,
  bySalesforce: boolean,
): Promise<number> {
  const [row] = await session.query(
    `SELECT (SELECT count(*) FROM ${tables.tombstones}
         WHERE mapping_id = $1 AND by_salesforce = $2 AND deleted_at > $3::timestamptz - interval '1 hour')
       + (SELECT count(*) FROM ${tables.log} l WHERE NOT $2 AND table_name::text = $4 AND ${isClaimed(tables, "l", "table_name::text = $4")}
         AND action::text = 'DELETE' AND sent_at IS NOT NULL AND NOT confirmed) AS recent`,
    [shape.mappingId, bySalesforce, now(), shape.table],
  );
  return Number(row?.["recent"] ?? 0);
}

/**
 * About how many rows the table has, by the planner: `reltuples` at the table's present size, summed over partitions,
 * and a guess by its width where it was never analyzed.
 */
async function estimatedRows({ session }: StoreContext, { shape }: MappedTable): Promise<number> {
  const [row] = await session.query<{ "QUERY PLAN": readonly [{ readonly Plan: { readonly "Plan Rows": number } }] }>(
    `EXPLAIN (FORMAT JSON) SELECT FROM ${qualified(shape.schema, shape.table)}`,
  );
  return row?.["QUERY PLAN"][0].Plan["Plan Rows"] ?? 0;
}

/** Tombstones that one query of the busiest hour reads at most, the latest: a fraction of a second. */
const TOMBSTONES_AT_ONCE = 500_000;

/**
 * Deletes of the busiest hour of the last seven days; what happened in the last 24 hours does not show yet what is
 * usual. Asked once in a cycle.
 */
async function busiestHour(
  { session, tables, now, busiestHours }: StoreContext,
  { shape: { mappingId } }: MappedTable,
  bySalesforce: boolean,
): Promise<number> {
  const side = `${mappingId} ${bySalesforce}`;
  const known = busiestHours.get(side);
  if (known !== undefined) return known;
  const [row] = await session.query(
    `SELECT coalesce(max(deletes), 0) AS deletes FROM (
       SELECT count(*) AS deletes FROM (
         SELECT deleted_at FROM ${tables.tombstones}
         WHERE mapping_id = $1 AND by_salesforce = $2 AND deleted_at > $3::timestamptz - interval '7 days'
           AND deleted_at <= $3::timestamptz - interval '24 hours'
         ORDER BY deleted_at DESC LIMIT ${TOMBSTONES_AT_ONCE}) AS latest
       GROUP BY date_trunc('hour', deleted_at)) AS hours`,
    [mappingId, bySalesforce, now()],
  );
  const deletes = Number(row?.["deletes"] ?? 0);
  busiestHours.set(side, deletes);
  return deletes;
}
