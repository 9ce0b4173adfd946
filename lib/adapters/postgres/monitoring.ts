import type { Action, State } from "../../model/change.ts";
import type { PostgresConnection } from "../../model/workspace.ts";
import type { MonitoredDatabase, Monitoring } from "../../monitoring/ports.ts";
import { instant, iso } from "./fence.ts";
import { type KeptSession, type KeptSessions, keepSessions } from "./kept-sessions.ts";
import { unlessUnprovisioned } from "./lease.ts";
import { type LogFilter, logPage, logPageFromOldest, logTotal } from "./log-query.ts";
import type { Row } from "./session.ts";
import { type Metadata, metadata } from "./sql.ts";

/** Customers' databases as the monitoring endpoints ask them; `now` ages the connections that are kept. */
export function postgresMonitoring(now: () => Date): Monitoring {
  const sessions: KeptSessions = keepSessions(now);
  return {
    open: async (connection) => monitoredDatabase(await sessions.take(connection), connection),
  };
}

function monitoredDatabase(kept: KeptSession, { schema }: PostgresConnection): MonitoredDatabase {
  const tables = metadata(schema);
  const ask = (text: string, values: readonly unknown[] = []) => unlessUnprovisioned(kept.query(text, values));

  return {
    check: async () => {
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
    },
    listActivity: async ({ state, table, limit, offset }) => {
      const { total, rows } = await readPage(ask, tables, { state, table }, limit, offset);
      const page = rows.map((row) => ({
        ...logRow(row),
        lastOperation: String(row["last_operation"]),
        syncedAt: instant(row, "synced_at"),
      }));
      return { total, rows: page };
    },
    listErrors: async ({ table, limit, offset }) => {
      const { total, rows } = await readPage(ask, tables, { state: "FAILED", table }, limit, offset);
      return { total, rows: rows.map((row) => ({ ...logRow(row), error: String(row["sf_message"] ?? "") })) };
    },
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
    [Symbol.asyncDispose]: () => kept.giveBack(),
  };
}

const isHeld = "mapping_id = $1 AND lease_until > clock_timestamp()";

async function readPage(
  ask: (text: string, values: readonly unknown[]) => Promise<readonly Row[]>,
  tables: Metadata,
  filter: LogFilter,
  limit: number,
  offset: number,
): Promise<{ readonly total: number; readonly rows: readonly Row[] }> {
  const table = filter.table === null ? [] : [filter.table];
  if (offset >= DEEP) {
    const [counted] = await ask(logTotal(tables, filter), table);
    const total = Number(counted?.["total"] ?? 0);
    const behind = total - offset; // rows from the page's first one to the oldest
    if (behind <= 0) return { total, rows: [] };
    if (behind < offset) {
      const slice = [Math.min(limit, behind), Math.max(0, behind - limit)];
      return { total, rows: await ask(logPageFromOldest(tables, filter), [...slice, ...table]) };
    }
  }
  const rows = await ask(logPage(tables, filter), [limit, offset, ...table]);
  return { total: Number(rows[0]?.["total"] ?? 0), rows: rows.filter((row) => row["id"] !== null) };
}

/** From this offset on it is worth a look which end of the log is nearer. */
const DEEP = 5000;

function logRow(row: Row) {
  return {
    id: Number(row["id"]),
    tableName: String(row["table_name"]),
    sfid: row["sfid"] === null ? null : String(row["sfid"]),
    action: row["action"] as Action,
    state: row["state"] as State,
    createdAt: new Date(String(row["created_at"])),
  };
}
