import { openDatabase } from "../open-database.ts";
import type { Held } from "./backlog.ts";

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS queues (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, attributes TEXT NOT NULL, tags TEXT NOT NULL,
    created_at INTEGER NOT NULL, modified_at INTEGER NOT NULL, purged_at INTEGER
  );
  CREATE TABLE IF NOT EXISTS deleted_queues (name TEXT PRIMARY KEY, deleted_at INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS messages (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, queue_id INTEGER NOT NULL, message_id TEXT NOT NULL, body TEXT NOT NULL,
    attributes TEXT, trace_header TEXT, group_id TEXT, sent_at INTEGER NOT NULL, visible_at INTEGER NOT NULL,
    receive_count INTEGER NOT NULL DEFAULT 0, first_received_at INTEGER, receipt TEXT, source_arn TEXT
  );
`;

/** A queue as it is kept. Times are epoch milliseconds. */
export interface QueueRow {
  readonly id: number;
  readonly name: string;
  readonly attributes: string;
  readonly tags: string;
  readonly created_at: number;
  readonly modified_at: number;
  readonly purged_at: number | null;
}

/** A message as it is kept. */
export interface MessageRow {
  readonly seq: number;
  readonly message_id: string;
  readonly body: string;
  readonly attributes: string | null;
  readonly trace_header: string | null;
  readonly group_id: string | null;
  readonly sent_at: number;
  readonly visible_at: number;
  readonly receive_count: number;
  readonly first_received_at: number | null;
  readonly receipt: string | null;
  readonly source_arn: string | null;
}

/** Opens the file of the queues. */
export function openSqsStore(file: string) {
  const database = openDatabase(file, SCHEMA);
  return {
    transaction: database.transaction,
    close: database.close,
    queues: database.prepare<QueueRow>("SELECT * FROM queues ORDER BY name"),
    insertQueue: database.prepare<QueueRow>(
      "INSERT INTO queues (name, attributes, tags, created_at, modified_at) VALUES (?, ?, ?, ?, ?) RETURNING *",
    ),
    updateQueue: database.prepare(
      "UPDATE queues SET attributes = ?, tags = ?, modified_at = ?, purged_at = ? WHERE id = ?",
    ),
    deleteQueue: database.prepare("DELETE FROM queues WHERE id = ?"),
    noteDeletion: database.prepare("INSERT OR REPLACE INTO deleted_queues (name, deleted_at) VALUES (?, ?)"),
    deletedAt: database.prepare<{ deleted_at: number }>("SELECT deleted_at FROM deleted_queues WHERE name = ?"),
    held: database.prepare<MessageRow & { queue_id: number }>(
      "SELECT seq, queue_id, group_id, sent_at, visible_at, receive_count, receipt FROM messages ORDER BY seq",
    ),
    insertMessage: database.prepare<{ seq: number }>(
      `INSERT INTO messages (queue_id, message_id, body, attributes, trace_header, group_id, sent_at, visible_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq`,
    ),
    receiveMessage: database.prepare<MessageRow>(
      `UPDATE messages SET visible_at = ?, receipt = ?, receive_count = receive_count + 1,
         first_received_at = coalesce(first_received_at, ?) WHERE seq = ? RETURNING *`,
    ),
    setVisibleAt: database.prepare("UPDATE messages SET visible_at = ? WHERE seq = ?"),
    moveMessage: database.prepare(
      "UPDATE messages SET queue_id = ?, source_arn = ?, visible_at = ?, receive_count = ?, receipt = NULL WHERE seq = ?",
    ),
    deleteMessage: database.prepare("DELETE FROM messages WHERE seq = ?"),
    purge: database.prepare("DELETE FROM messages WHERE queue_id = ?"),
  };
}

/** What the order of a queue needs to know of a kept message. */
export function heldOf(row: MessageRow): Held {
  return {
    seq: row.seq,
    groupId: row.group_id,
    sentAt: row.sent_at,
    visibleAt: row.visible_at,
    receiveCount: row.receive_count,
    receipt: row.receipt,
  };
}

/** Every statement that the queues need on their file. */
export type SqsStore = ReturnType<typeof openSqsStore>;
