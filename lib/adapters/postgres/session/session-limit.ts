import { setTimeout as pause } from "node:timers/promises";
import { MOST_CONNECTIONS, type PostgresConnection } from "../../../model/workspace/workspace.ts";
import { type Deadlines, openSession } from "./session.ts";
import type { SingleProbe } from "./single-probe.ts";
import { literal, type Session } from "./sql.ts";
import { sqlState } from "./sql-errors.ts";

/** As many sessions as the workspace may have are open, over all functions. It has the SQLSTATE of a server without a connection left. */
export class NoConnectionFree extends Error {
  readonly code = "53300";

  constructor(most: number) {
    super(`all ${most} connections of the workspace are in use (max_connections; bridge schema connections)`);
    this.name = "NoConnectionFree";
  }
}

/** How a session is used. */
export interface Use {
  /** The server ends it when it was silent for longer. */
  readonly idleMilliseconds: number;
  /** Minutes of work, which leave at least half of the connections to others and wait longer for one. */
  readonly isLongWork?: boolean;
  /** Watches over each opening of a connection. */
  readonly watch?: SingleProbe | undefined;
  /** How long it waits where none is left. Left out: a second, or 200 s for long work. */
  readonly waitMilliseconds?: number;
}

const WAIT_MILLISECONDS = 1_000;
/** Less than the five minutes of the worker that changes tables. */
const LONG_WORK_WAITS_MILLISECONDS = 200_000;
/** Each try is a connection, so they become rarer. */
const FIRST_AGAIN_MILLISECONDS = 100;
const LAST_AGAIN_MILLISECONDS = 2_000;

const ADMITTED = { short: "bridge", longWork: "bridge long work" } as const;
const NOT_YET_ADMITTED = "bridge connecting";

/**
 * Admits this session, if the admitted ones leave room, by giving it an admitted name. One session at a time: without the
 * lock, which ends with the script, two would not see each other. The server ends the session when it was silent for as
 * long as the setting says (14 and later), or when its probes are not acknowledged: the function may be frozen or gone.
 */
async function isAdmitted(session: Session, most: number, { idleMilliseconds, isLongWork }: Use): Promise<boolean> {
  const name = literal(isLongWork ? ADMITTED.longWork : ADMITTED.short);
  const hasRoom = isLongWork ? `"longWork" < ${Math.floor(most / 2)} AND "all" < ${most}` : `"all" < ${most}`;
  const script = `
    SELECT pg_advisory_xact_lock(hashtextextended('bridge connections ' || current_user, 0));
    SELECT CASE WHEN ${hasRoom} THEN set_config('application_name', ${name}, false) END IS NOT NULL AS "isAdmitted",
      pg_backend_pid() AS backend, (SELECT set_config(name, ${literal(String(idleMilliseconds))}, false) FROM pg_settings WHERE name = 'idle_session_timeout'),
      set_config('tcp_keepalives_idle', '15', false), set_config('tcp_keepalives_interval', '5', false),
      set_config('tcp_keepalives_count', '3', false)
    FROM (
      SELECT count(*) AS "all", count(*) FILTER (WHERE application_name = ${literal(ADMITTED.longWork)}) AS "longWork"
      FROM pg_stat_activity
      WHERE usename = current_user AND datname = current_database() AND pid <> pg_backend_pid()
        AND application_name IN (${literal(ADMITTED.short)}, ${literal(ADMITTED.longWork)})
    ) admitted`;
  let admitted = false;
  try {
    const [row] = (await session.script(script))[1] ?? [];
    admitted = row?.["isAdmitted"] === true;
    session.prepareOn?.(Number(row?.["backend"]));
  } finally {
    if (!admitted) await session.close();
  }
  return admitted;
}

/**
 * Opens a session where the workspace has one left, waiting for it as long as `use` says; else rejects with
 * `NoConnectionFree`, or with the refusal of a server that has none left.
 */
export async function openWithinLimit(
  connection: PostgresConnection,
  use: Use,
  deadlines: Deadlines = {},
): Promise<Session> {
  const most = connection.maxConnections ?? MOST_CONNECTIONS;
  const longest = use.waitMilliseconds ?? (use.isLongWork ? LONG_WORK_WAITS_MILLISECONDS : WAIT_MILLISECONDS);
  const open = () => openSession(connection, { ...deadlines, name: NOT_YET_ADMITTED });
  let again = FIRST_AGAIN_MILLISECONDS;
  for (let waited = 0; ; waited += again) {
    try {
      const session = await (use.watch ? use.watch(connection.url, open) : open());
      if (await isAdmitted(session, most, use)) return session;
      throw new NoConnectionFree(most);
    } catch (error) {
      if (sqlState(error) !== "53300" || waited >= longest) throw error;
    }
    if (waited > 0) again = Math.min(again * 2, LAST_AGAIN_MILLISECONDS, longest - waited);
    await pause(again);
  }
}
