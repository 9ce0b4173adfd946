import { openDatabase } from "../open-database.ts";

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS groups (name TEXT PRIMARY KEY, tags TEXT NOT NULL, created_at INTEGER NOT NULL, modified_at INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS schedules (
    group_name TEXT NOT NULL, name TEXT NOT NULL, definition TEXT NOT NULL, created_at INTEGER NOT NULL,
    modified_at INTEGER NOT NULL, occurrence INTEGER, fire_at INTEGER, PRIMARY KEY (group_name, name)
  );
  CREATE INDEX IF NOT EXISTS schedules_by_fire_at ON schedules (fire_at) WHERE fire_at IS NOT NULL;
  CREATE TABLE IF NOT EXISTS invocations (
    execution_id TEXT PRIMARY KEY, schedule_arn TEXT NOT NULL, target TEXT NOT NULL, scheduled_at INTEGER NOT NULL,
    attempt INTEGER NOT NULL, due_at INTEGER NOT NULL, gives_up_at INTEGER NOT NULL
  );
  CREATE INDEX IF NOT EXISTS invocations_by_due_at ON invocations (due_at);
  CREATE TABLE IF NOT EXISTS tokens (token TEXT PRIMARY KEY, request TEXT NOT NULL, answer TEXT NOT NULL, expires_at INTEGER NOT NULL);
`;

/** A schedule as it is kept. Times are epoch milliseconds; `occurrence` is the time meant, `fire_at` that plus its jitter. */
export interface ScheduleRow {
  readonly group_name: string;
  readonly name: string;
  readonly definition: string;
  readonly created_at: number;
  readonly modified_at: number;
  readonly occurrence: number | null;
  readonly fire_at: number | null;
}

export interface GroupRow {
  readonly name: string;
  readonly tags: string;
  readonly created_at: number;
  readonly modified_at: number;
}

/** One occurrence that is due for its target. */
export interface InvocationRow {
  readonly execution_id: string;
  readonly schedule_arn: string;
  readonly target: string;
  readonly scheduled_at: number;
  readonly attempt: number;
  readonly due_at: number;
  readonly gives_up_at: number;
}

/** Opens the file of the schedules. */
export function openSchedulerStore(file: string) {
  const database = openDatabase(file, SCHEMA);
  return {
    transaction: database.transaction,
    close: database.close,
    schedule: database.prepare<ScheduleRow>("SELECT * FROM schedules WHERE group_name = ? AND name = ?"),
    schedules: database.prepare<ScheduleRow>(
      `SELECT * FROM schedules WHERE (group_name, name) > (:afterGroup, :afterName) AND name GLOB :prefix || '*'
         AND group_name = coalesce(:group, group_name) AND definition ->> 'State' = coalesce(:state, definition ->> 'State')
       ORDER BY group_name, name LIMIT :most`,
    ),
    putSchedule: database.prepare("INSERT OR REPLACE INTO schedules VALUES (?, ?, ?, ?, ?, ?, ?)"),
    advance: database.prepare("UPDATE schedules SET occurrence = ?, fire_at = ? WHERE group_name = ? AND name = ?"),
    deleteSchedule: database.prepare("DELETE FROM schedules WHERE group_name = ? AND name = ?"),
    deleteSchedulesOf: database.prepare("DELETE FROM schedules WHERE group_name = ?"),
    dueSchedules: database.prepare<ScheduleRow>(
      "SELECT * FROM schedules WHERE fire_at <= ? ORDER BY fire_at LIMIT 100",
    ),
    dueInvocations: database.prepare<InvocationRow>(
      "SELECT * FROM invocations WHERE due_at <= ? ORDER BY due_at LIMIT 100",
    ),
    nextDue: database.prepare<{ at: number | null }>(
      `SELECT min(at) AS at FROM
         (SELECT min(fire_at) AS at FROM schedules WHERE fire_at IS NOT NULL UNION ALL SELECT min(due_at) FROM invocations)`,
    ),
    putInvocation: database.prepare("INSERT OR REPLACE INTO invocations VALUES (?, ?, ?, ?, ?, ?, ?)"),
    deleteInvocation: database.prepare("DELETE FROM invocations WHERE execution_id = ?"),
    group: database.prepare<GroupRow>("SELECT * FROM groups WHERE name = ?"),
    groups: database.prepare<GroupRow>("SELECT * FROM groups ORDER BY name"),
    putGroup: database.prepare("INSERT INTO groups VALUES (?, ?, ?, ?)"),
    deleteGroup: database.prepare("DELETE FROM groups WHERE name = ?"),
    token: database.prepare<{ request: string; answer: string }>(
      "SELECT request, answer FROM tokens WHERE token = ? AND expires_at > ?",
    ),
    putToken: database.prepare("INSERT OR REPLACE INTO tokens VALUES (?, ?, ?, ?)"),
    deleteTokens: database.prepare("DELETE FROM tokens WHERE expires_at <= ?"),
  };
}

/** Every statement that the scheduler needs on its file. */
export type SchedulerStore = ReturnType<typeof openSchedulerStore>;
