import { chmodSync } from "node:fs";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";

/** A statement whose rows have a known shape; the schema next to it is what vouches for it. */
export interface Statement<Row> {
  get(...values: SQLInputValue[]): Row | undefined;
  all(...values: SQLInputValue[] | [named: Record<string, SQLInputValue>]): Row[];
  /** Row by row, for more rows than should be held at once. */
  iterate(...values: SQLInputValue[]): Iterable<Row>;
  run(...values: SQLInputValue[]): number;
}

/** One file of the embedded cloud. */
export interface Database {
  prepare<Row = never>(sql: string): Statement<Row>;
  /** Commits what `work` wrote when it returns, nothing of it when it throws. */
  transaction<T>(work: () => T): T;
  close(): void;
}

/**
 * Opens an SQLite file, creating it with the given schema (`CREATE … IF NOT EXISTS`) and readable by its owner alone.
 * A commit is in the write-ahead log, and so in the system's cache, when it returns: it survives the death of the process.
 */
export function openDatabase(file: string, schema: string): Database {
  const database = opened(file, schema);
  const [begin, commit, rollback] = ["BEGIN IMMEDIATE", "COMMIT", "ROLLBACK"].map((sql) => database.prepare(sql));
  let inside = false;

  return {
    prepare<Row>(sql: string): Statement<Row> {
      const statement = database.prepare(sql);
      return {
        get: (...values) => statement.get(...values) as Row | undefined,
        all: (...values) => statement.all(...(values as SQLInputValue[])) as Row[],
        iterate: (...values) => statement.iterate(...values) as Iterable<Row>,
        run: (...values) => Number(statement.run(...values).changes),
      };
    },
    transaction(work) {
      if (inside) return work();
      begin?.run();
      inside = true;
      try {
        const result = work();
        commit?.run();
        return result;
      } catch (error) {
        if (database.isTransaction) rollback?.run(); // a full disk has ended it already
        throw error;
      } finally {
        inside = false;
      }
    },
    close: () => database.close(),
  };
}

function opened(file: string, schema: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file);
    chmodSync(file, 0o600);
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000;");
    database.exec(schema);
    return database;
  } catch (cause) {
    database?.close();
    throw new Error(`${file} cannot be opened: ${(cause as Error).message}`, { cause });
  }
}
