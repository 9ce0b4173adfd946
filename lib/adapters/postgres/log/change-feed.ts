import {
  beginning,
  decide,
  type FeedChange,
  type FeedPage,
  type FeedPlace,
  type FeedQuery,
  feedPage,
  isOfLog,
  type LogSnapshot,
  wantsXid,
} from "../../../model/change/feed.ts";
import type { Ask, Metadata } from "../session/sql.ts";
import { lastGiven } from "./change-states.ts";
import { ACTIVITY_COLUMNS, rowsAsJson } from "./log-query.ts";

/** The changes after a place, as far as no open transaction can add one below; null: the place is not of this log. */
export async function readChanges(ask: Ask, { log }: Metadata, asked: FeedQuery): Promise<FeedPage | null> {
  const snapshot = await readSnapshot(ask, log);
  if (asked.place !== null && !isOfLog(asked.place, snapshot)) return null;
  const from = await advance(ask, decide(asked.place ?? beginning(asked.at), snapshot.oldest), snapshot);
  const rows = `SELECT ${ACTIVITY_COLUMNS}, l.record_id FROM ${log} l
    WHERE l.id > $1 AND l.id <= $2 AND ($3::text IS NULL OR l.table_name::text = $3) ORDER BY l.id LIMIT $4`;
  const values = [from.after, from.decided, asked.table, asked.limit];
  const [page] = await ask(`SELECT ${rowsAsJson(rows)} AS rows`, values);
  return feedPage(from, snapshot, (page?.["rows"] ?? []) as readonly FeedChange[], asked);
}

async function readSnapshot(ask: Ask, log: string): Promise<LogSnapshot> {
  const [row] = await ask(
    `SELECT coalesce((SELECT max(id) FROM ${log}), 0) AS highest,
       ${lastGiven({ log })} AS given,
       txid_snapshot_xmin(s) AS oldest, txid_snapshot_xmax(s) AS next FROM txid_current_snapshot() AS s`,
  );
  const number = (column: string) => Number(row?.[column] ?? 0);
  const highest = number("highest");
  return { highest, given: Math.max(highest, number("given")), oldest: number("oldest"), next: number("next") };
}

/**
 * The place with the new rows that a snapshot shows. A snapshot does not show the transactions beyond its `xmax`, so a
 * transaction of our own gets a number: all that got an id of the log before have a lower one, for a trigger captures
 * after its statement has rowsAsJson. Where none of them is open, the rows are decided at once.
 */
async function advance(ask: Ask, place: FeedPlace, snapshot: LogSnapshot): Promise<FeedPlace> {
  if (!wantsXid(place, snapshot)) return place;
  const [own] = await ask("SELECT txid_current() AS xid");
  const [later] = await ask("SELECT txid_snapshot_xmin(txid_current_snapshot()) AS oldest");
  return decide({ ...place, seen: snapshot.highest, xid: Number(own?.["xid"]) }, Number(later?.["oldest"]));
}
