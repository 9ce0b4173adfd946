import { setTimeout as pause } from "node:timers/promises";
import { MOST_CONNECTIONS, type PostgresConnection } from "../../../model/workspace/workspace.ts";
import { type Deadlines, openSession } from "./session.ts";
import type { Session } from "./sql.ts";
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
  /** False: it rejects at once where none is left. */
  readonly waits?: boolean;
}

const WAIT_MILLISECONDS = 1_000;
/** Less than the five minutes of the worker that changes tables. */
const LONG_WORK_WAITS_MILLISECONDS = 200_000;
/** Each try is a connection, so they become rarer. */
const FIRST_AGAIN_MILLISECONDS = 100;
const LAST_AGAIN_MILLISECONDS = 2_000;

const NAME = "bridge";
const LONG_WORK = `${NAME} long work`;

/**
 * Sessions of ours that the database had before this one. The server ends this one when it was silent for as long as the
 * parameter says (14 and later), or when nobody acknowledges its probes: whoever opened it may be frozen or gone.
 */
const ADMISSION = `
  SELECT count(*) AS all, count(*) FILTER (WHERE o.application_name = '${LONG_WORK}') AS "longWork",
    (SELECT set_config(name, $1, false) FROM pg_settings WHERE name = 'idle_session_timeout') AS idle,
    set_config('tcp_keepalives_idle', '15', false), set_config('tcp_keepalives_interval', '5', false),
    set_config('tcp_keepalives_count', '3', false)
  FROM pg_stat_activity me JOIN pg_stat_activity o ON o.usesysid = me.usesysid AND o.datid = me.datid
    AND o.application_name IN ('${NAME}', '${LONG_WORK}') AND (o.backend_start, o.pid) < (me.backend_start, me.pid)
  WHERE me.pid = pg_backend_pid()`;

/**
 * Opens a session where the workspace has one left, waiting for it up to a second; else rejects with `NoConnectionFree`, or
 * with what the server said that has none left itself. Who came first stays, so two that race do not both give up.
 */
export async function openWithinLimit(
  connection: PostgresConnection,
  { idleMilliseconds, isLongWork = false, waits = true }: Use,
  deadlines: Deadlines = {},
): Promise<Session> {
  const most = connection.maxConnections ?? MOST_CONNECTIONS;
  const longest = !waits ? 0 : isLongWork ? LONG_WORK_WAITS_MILLISECONDS : WAIT_MILLISECONDS;
  let again = FIRST_AGAIN_MILLISECONDS;
  for (let waited = 0; ; waited += again) {
    try {
      const session = await openSession(connection, { ...deadlines, name: isLongWork ? LONG_WORK : NAME });
      const [before] = await session.query<{ all: number; longWork: number }>(ADMISSION, [String(idleMilliseconds)]);
      if (!before) throw new Error("PostgreSQL answered a count with no row");
      if (before.all < most && (!isLongWork || before.longWork < Math.floor(most / 2))) return session;
      await session.close();
      throw new NoConnectionFree(most);
    } catch (error) {
      if (sqlState(error) !== "53300" || waited >= longest) throw error;
    }
    if (waited > 0) again = Math.min(again * 2, LAST_AGAIN_MILLISECONDS, longest - waited);
    await pause(again);
  }
}
