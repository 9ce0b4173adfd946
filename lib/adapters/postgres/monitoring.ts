import { JsonArray } from "../../model/json-array.ts";
import type { PostgresConnection } from "../../model/workspace.ts";
import type { MonitoredDatabase, Monitoring, WrittenPage } from "../../monitoring/ports.ts";
import { type AskTogether, askTogether } from "../ask-together.ts";
import { type PagesInLine, pagesInLine } from "../pages-in-line.ts";
import { instant, iso } from "./fence.ts";
import { type KeptSession, type KeptSessions, keepSessions } from "./kept-sessions.ts";
import { unlessUnprovisioned } from "./lease.ts";
import {
  ACTIVITY_COLUMNS,
  deepLogPage,
  ERROR_COLUMNS,
  type LogFilter,
  logPage,
  logRows,
  logTotal,
  withInstants,
} from "./log-query.ts";
import type { Row } from "./session.ts";
import { type Metadata, metadata } from "./sql.ts";

/** Databases whose lines are kept at most; they begin anew then. */
const MOST_LINES = 1_000;

/** Customers' databases as the monitoring endpoints ask them; `now` ages the connections that are kept. */
export function postgresMonitoring(now: () => Date, newLine = pagesInLine): Monitoring {
  const sessions: KeptSessions = keepSessions(now);
  const together = askTogether();
  const lines = new Map<string, PagesInLine>();
  const lineOf = ({ url }: PostgresConnection): PagesInLine => {
    if (lines.size >= MOST_LINES) lines.clear();
    const line = lines.get(url) ?? newLine();
    lines.set(url, line);
    return line;
  };
  return {
    open: async (connection) =>
      monitoredDatabase(sessions.take(connection), connection, { together, inLine: lineOf(connection) }),
  };
}

/** What requests for one database have in common. */
interface Meeting {
  readonly together: AskTogether;
  readonly inLine: PagesInLine;
}

function monitoredDatabase(
  kept: KeptSession,
  { url, schema }: PostgresConnection,
  { together, inLine }: Meeting,
): MonitoredDatabase {
  const tables = metadata(schema);
  const ask = (text: string, values: readonly unknown[] = []) => unlessUnprovisioned(kept.query(text, values));
  // Whoever waits in line holds no session: a customer's database has few of them to give.
  const inTurn = (asked: AskedPage) => readPage(ask, tables, asked).finally(() => kept.giveBack());
  const page = (asked: AskedPage) => inLine(() => inTurn(asked));

  const look = async () => {
    const started = performance.now();
    await kept.query("SELECT 1");
    const latencyMilliseconds = Math.round(performance.now() - started);
    const [row] = await ask(
      `SELECT (SELECT count(*) FROM ${tables.log} WHERE processed_at IS NULL) AS waiting,
         (SELECT ${iso("max(last_run_at)")} FROM ${tables.state}) AS last_run_at`,
    );
    return {
      latencyMilliseconds,
      lastRunAt: row ? instant(row, "last_run_at") : null,
      waitingRows: Number(row?.["waiting"] ?? 0),
    };
  };

  return {
    check: async () => {
      await kept.connect();
      return await together(`${url} ${schema}`, look);
    },
    listActivity: ({ state, table, limit, offset }) =>
      page({ filter: { state, table }, columns: ACTIVITY_COLUMNS, limit, offset }),
    listErrors: ({ table, limit, offset }) =>
      page({ filter: { state: "FAILED", table }, columns: ERROR_COLUMNS, limit, offset }),
    isCycleRunning: async (mappingId) => {
      const rows = await ask(`SELECT FROM ${tables.state} WHERE ${isHeld}`, [mappingId]);
      return rows.length > 0;
    },
    requestAbort: async (mappingId, requestedAt) => {
      const rows = await ask(
        `INSERT INTO ${tables.aborts} (mapping_id, fence, requested_at)
         SELECT mapping_id, fence, $2 FROM ${tables.state} WHERE ${isHeld}
         ON CONFLICT (mapping_id) DO UPDATE SET fence = excluded.fence, requested_at = excluded.requested_at
         RETURNING mapping_id`,
        [mappingId, requestedAt],
      );
      return rows.length > 0;
    },
    [Symbol.asyncDispose]: async () => kept.giveBack(),
  };
}

const isHeld = "mapping_id = $1 AND lease_until > clock_timestamp()";

interface AskedPage {
  readonly filter: LogFilter;
  readonly columns: string;
  readonly limit: number;
  readonly offset: number;
}

async function readPage(
  ask: (text: string, values: readonly unknown[]) => Promise<readonly Row[]>,
  tables: Metadata,
  { filter, columns, limit, offset }: AskedPage,
): Promise<WrittenPage> {
  const table = filter.table === null ? [] : [filter.table];
  const isWhole = filter.state === null && filter.table === null;
  if (offset < DEEP || isWhole) {
    const text = offset < DEEP ? logPage(tables, filter, columns) : deepLogPage(tables, columns);
    const [page] = await ask(text, [limit, offset, ...table]);
    return { total: Number(page?.["total"] ?? 0), rows: rowsOf(page) };
  }
  const [counted] = await ask(logTotal(tables, filter), table);
  const total = Number(counted?.["total"] ?? 0);
  const behind = total - offset; // rows from the page's first one to the oldest
  if (behind <= 0) return { total, rows: rowsOf(undefined) };
  const [order, slice] =
    behind < offset
      ? (["ASC", [Math.min(limit, behind), Math.max(0, behind - limit)]] as const)
      : (["DESC", [limit, offset]] as const);
  const [page] = await ask(logRows(tables, filter, columns, order), [...slice, ...table]);
  return { total, rows: rowsOf(page) };
}

/** From this offset on it is worth a look which end of the log is nearer. */
const DEEP = 5000;

const rowsOf = (page: Row | undefined): JsonArray => new JsonArray(`[${withInstants(String(page?.["rows"] ?? ""))}]`);
