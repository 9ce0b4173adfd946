import { JsonArray } from "../../model/json-array.ts";
import type { PostgresConnection } from "../../model/workspace.ts";
import type { MonitoredDatabase, Monitoring, WrittenPage } from "../../monitoring/ports.ts";
import { type AskTogether, askTogether } from "../ask-together.ts";
import { type PagesInLine, pagesInLine } from "../pages-in-line.ts";
import { instant, iso } from "./fence.ts";
import { type KeptSession, type KeptSessions, keepSessions } from "./kept-sessions.ts";
import { unlessUnprovisioned } from "./lease.ts";
import { type AskLog, LogMilestones } from "./log-milestones.ts";
import {
  ACTIVITY_COLUMNS,
  ERROR_COLUMNS,
  type LogFilter,
  logPage,
  logRows,
  logRowsFrom,
  logTotal,
  type Walk,
  withInstants,
} from "./log-query.ts";
import type { Row } from "./session.ts";
import { type Metadata, metadata } from "./sql.ts";

/** Customers' databases as the monitoring endpoints ask them; `now` ages the connections that are kept. */
export function postgresMonitoring(now: () => Date, newLine = pagesInLine): Monitoring {
  const sessions: KeptSessions = keepSessions(now);
  const together = askTogether();
  const lines = ofEach(() => newLine());
  const milestones = ofEach((connection) => new LogMilestones(metadata(connection.schema), now));
  return {
    open: async (connection) =>
      monitoredDatabase(sessions.take(connection), connection, {
        together,
        inLine: lines(connection.url, connection),
        milestones: milestones(`${connection.url} ${connection.schema}`, connection),
      }),
  };
}

/** Of how many databases such things are kept; they begin anew then. */
const MOST_DATABASES = 1_000;

/** What requests for the same have in common, made by the first of them. */
function ofEach<Thing>(make: (connection: PostgresConnection) => Thing) {
  const known = new Map<string, Thing>();
  return (key: string, connection: PostgresConnection): Thing => {
    if (known.size >= MOST_DATABASES) known.clear();
    const thing = known.get(key) ?? make(connection);
    known.set(key, thing);
    return thing;
  };
}

/** What requests for one database have in common. */
interface Meeting {
  readonly together: AskTogether;
  readonly inLine: PagesInLine;
  readonly milestones: LogMilestones;
}

function monitoredDatabase(
  kept: KeptSession,
  { url, schema }: PostgresConnection,
  { together, inLine, milestones }: Meeting,
): MonitoredDatabase {
  const tables = metadata(schema);
  const ask = (text: string, values: readonly unknown[] = []) => unlessUnprovisioned(kept.query(text, values));
  // Whoever waits in line holds no session: a customer's database has few of them to give.
  const inTurn: AskedLog["inTurn"] = (read) => inLine(() => read().finally(() => kept.giveBack()));
  const beforeRow = (row: number) => milestones.before(row, ask).finally(() => kept.giveBack());
  const page = (asked: AskedPage) => readPage({ ask, tables, inTurn, beforeRow }, asked);

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
    countNew: async () => {
      const [row] = await ask(`SELECT count(*) FROM ${tables.log} WHERE processed_at IS NULL AND state = 'NEW'`);
      return Number(row?.["count"] ?? 0);
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
         SELECT mapping_id, fence, $2 FROM ${tables.state} WHERE ${isHeld} FOR KEY SHARE
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

/** A log, and how it is asked for pages. */
interface AskedLog {
  readonly tables: Metadata;
  readonly ask: AskLog;
  readonly inTurn: <Read>(read: () => Promise<Read>) => Promise<Read>;
  readonly beforeRow: (row: number) => ReturnType<LogMilestones["before"]>;
}

/** From this offset on it is worth a look what is near to the page. */
const DEEP = 5000;

function readPage(log: AskedLog, asked: AskedPage): Promise<WrittenPage> {
  const { filter, offset } = asked;
  if (offset < DEEP) return log.inTurn(() => nearby(log, asked));
  const isWhole = filter.state === null && filter.table === null;
  return isWhole ? farBack(log, asked) : log.inTurn(() => farBackOfPart(log, asked));
}

async function nearby({ ask, tables }: AskedLog, { filter, columns, limit, offset }: AskedPage): Promise<WrittenPage> {
  const [page] = await ask(logPage(tables, filter, columns), [limit, offset, ...tableOf(filter)]);
  return { total: Number(page?.["total"] ?? 0), rows: rowsOf(page) };
}

/** The page's first row is counted from whatever is nearest: the newest row, the oldest one, or a milestone. */
async function farBack(log: AskedLog, { columns, limit, offset }: AskedPage): Promise<WrittenPage> {
  const { total, milestone } = await log.beforeRow(offset);
  if (offset >= total) return { total, rows: rowsOf(undefined) };
  const ways: readonly (readonly [Walk, number, number?])[] = [
    ["newest", offset],
    ["oldest", total - 1 - offset],
    ...(milestone ? [["milestone", offset - milestone.rowsBefore, milestone.id] as const] : []),
  ];
  const [walk, ...values] = ways.reduce((best, way) => (way[1] < best[1] ? way : best));
  const [page] = await log.inTurn(() => log.ask(logRowsFrom(log.tables, columns, walk), [limit, ...values]));
  return { total, rows: rowsOf(page) };
}

/** The same of rows in one state or of one table, from whichever end is nearer. */
async function farBackOfPart({ ask, tables }: AskedLog, asked: AskedPage): Promise<WrittenPage> {
  const { filter, columns, limit, offset } = asked;
  const table = tableOf(filter);
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

const tableOf = ({ table }: LogFilter): readonly string[] => (table === null ? [] : [table]);

const rowsOf = (page: Row | undefined): JsonArray => new JsonArray(`[${withInstants(String(page?.["rows"] ?? ""))}]`);
