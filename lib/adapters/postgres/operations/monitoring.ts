import type { Page } from "../../../model/page.ts";
import type { PostgresConnection } from "../../../model/workspace/workspace.ts";
import type {
  ActivityQuery,
  Backlog,
  MonitoredDatabase,
  Monitoring,
  SilentDatabases,
} from "../../../monitoring/ports.ts";
import { readChanges } from "../log/change-feed.ts";
import { ACTIVITY_COLUMNS, ERROR_COLUMNS, type LogFilter, logPage, logRows, logTotal } from "../log/log-query.ts";
import { type KeptSession, keepSessions } from "../session/request-session.ts";
import { readVersion, SchemaTooOld, upgradeOf } from "../session/schema-version.ts";
import { type Ask, instant, iso, type Metadata, metadata, type Row } from "../session/sql.ts";
import { unlessUnprovisioned } from "../session/sql-errors.ts";
import { backlogsOf } from "./failed-changes.ts";
import { readMappingFigures, readSigns } from "./mapping-figures.ts";
import { readRowPage } from "./row-activity.ts";

/** Customers' databases as the monitoring endpoints ask them; `now` ages the connections that are kept. */
export function postgresMonitoring(now: () => Date, silent?: SilentDatabases): Monitoring {
  const sessions = keepSessions(now, silent);
  return { open: async (connection) => monitoredDatabase(sessions.take(connection), connection, now) };
}

function monitoredDatabase(kept: KeptSession, connection: PostgresConnection, now: () => Date): MonitoredDatabase {
  const tables = metadata(connection.schema);
  const ask: Ask = (text, values = []) => unlessUnprovisioned(kept.query(text, values));
  const page = (asked: AskedPage) => readPage(ask, tables, asked);
  const listAll = ({ state, table, before, limit, offset }: ActivityQuery) =>
    page({ filter: { state, table, before }, columns: ACTIVITY_COLUMNS, limit, offset });

  return {
    upgrade: async () => {
      try {
        await kept.connect();
        // The session may be older than the upgrade.
        if (upgradeOf(connection) !== null) await readVersion(ask, connection);
      } catch (error) {
        if (!(error instanceof SchemaTooOld)) throw error;
      }
      return upgradeOf(connection);
    },
    check: async () => {
      await kept.connect();
      const started = performance.now();
      await kept.query("SELECT 1");
      const latencyMilliseconds = Math.round(performance.now() - started);
      const [row] = await ask(
        `SELECT (SELECT count(*) FROM ${tables.log} WHERE processed_at IS NULL) AS waiting,
           (SELECT ${iso("max(last_run_at)")} FROM ${tables.state}) AS last_run_at,
           (SELECT coalesce(json_agg(b), '[]') FROM (${backlogsOf(tables)}) b) AS backlogs`,
      );
      return {
        latencyMilliseconds,
        lastRunAt: row ? instant(row, "last_run_at") : null,
        waitingRows: Number(row?.["waiting"] ?? 0),
        backlogs: (row?.["backlogs"] ?? []) as readonly Backlog[],
      };
    },
    signs: () => readSigns(ask, connection.schema),
    countNew: async () => {
      const [row] = await ask(
        `SELECT count(*), ${iso("min(created_at) FILTER (WHERE NOT held)")} AS oldest_at
         FROM ${tables.log} WHERE processed_at IS NULL AND state::text = 'NEW'`,
      );
      return { rows: Number(row?.["count"] ?? 0), oldestAt: row ? instant(row, "oldest_at") : null };
    },
    mappingFigures: (mappingIds) => readMappingFigures(ask, tables, mappingIds, now()),
    listActivity: async ({ named, ...asked }) => {
      if (!named) return listAll(asked);
      const found = await readRowPage(ask, tables, asked, named);
      return { total: Number(found?.["total"] ?? 0), rows: rowsOf(found) };
    },
    listErrors: ({ table, before, limit, offset }) =>
      page({ filter: { state: "FAILED", table, before }, columns: ERROR_COLUMNS, limit, offset }),
    listChanges: (asked) => readChanges(ask, tables, asked),
    leaseOf: async (mappingId) => {
      const held = "coalesce(lease_until > clock_timestamp(), false) AS is_held";
      const [row] = await ask(`SELECT fence, ${held} FROM ${tables.state} WHERE mapping_id = $1`, [mappingId]);
      return row ? { fence: Number(row["fence"]), isHeld: row["is_held"] === true } : null;
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
  };
}

const isHeld = "mapping_id = $1 AND lease_until > clock_timestamp()";

interface AskedPage {
  readonly filter: LogFilter;
  readonly columns: string;
  readonly limit: number;
  readonly offset: number;
}

/** From this offset on a second statement pays, which finds the nearer end of the log. */
const DEEP = 5000;

async function readPage(ask: Ask, tables: Metadata, asked: AskedPage): Promise<Page<unknown>> {
  const { filter, columns, limit, offset } = asked;
  const table = filter.table === null ? [] : [filter.table];
  if (offset < DEEP || filter.before) {
    const [page] = await ask(logPage(tables, filter, columns), [limit, offset, ...table]);
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

const rowsOf = (page: Row | undefined) => (page?.["rows"] ?? []) as readonly unknown[];
