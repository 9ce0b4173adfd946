import { chmodSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";

/** What a column holds: booleans are 0 or 1, every date and time is text that sorts by time. */
export type Stored = string | number | null;

/** One row by column name. */
export type Row = Record<string, Stored>;

const KEPT_STATEMENTS = 400;

/** The org's one SQLite file, with its statements prepared once and its transactions nested as savepoints. */
export class Database {
  readonly #sqlite: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #arrayStatements = new Map<string, StatementSync>();
  #depth = 0;

  /** Opens or creates the file. Commits survive `kill -9`; only a power cut may lose the last of them. */
  constructor(file: string) {
    this.#sqlite = new DatabaseSync(file);
    chmodSync(file, 0o600); // it holds sessions and passwords, and so does its log, which takes the same mode
    try {
      this.#sqlite.exec(`
        PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
        PRAGMA temp_store = MEMORY; PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 4000;
        BEGIN IMMEDIATE; COMMIT;`);
    } catch (error) {
      this.#sqlite.close();
      throw new Error(`cannot open the org's records in ${file}: ${(error as Error).message}`, { cause: error });
    }
  }

  execute(sql: string): void {
    this.#sqlite.exec(sql);
  }

  run(sql: string, ...values: readonly Stored[]): number {
    return Number(this.#statement(sql).run(...values).changes);
  }

  first(sql: string, ...values: readonly Stored[]): Row | undefined {
    return this.#statement(sql).get(...values) as Row | undefined;
  }

  all(sql: string, ...values: readonly Stored[]): Row[] {
    return this.#statement(sql).all(...values) as Row[];
  }

  /** Rows as arrays in the order of the columns: the quick way for wide results. */
  tuples(sql: string, values: readonly Stored[]): Stored[][] {
    return this.#arrayStatement(sql).all(...values) as unknown as Stored[][];
  }

  /** Makes a function callable from SQL under this name; the same arguments always give the same answer. */
  define(name: string, compute: (...values: Stored[]) => Stored): void {
    this.#sqlite.function(name, { deterministic: true, varargs: true }, (...values) =>
      compute(...(values as Stored[])),
    );
  }

  /** All or nothing; inside another transaction, a savepoint of it. */
  transaction<T>(work: () => T): T {
    const name = `s${this.#depth}`;
    this.run(this.#depth === 0 ? "BEGIN IMMEDIATE" : `SAVEPOINT ${name}`);
    this.#depth++;
    try {
      const answer = work();
      this.run(this.#depth === 1 ? "COMMIT" : `RELEASE ${name}`);
      return answer;
    } catch (error) {
      this.#takeBack(this.#depth === 1 ? "ROLLBACK" : `ROLLBACK TO ${name}; RELEASE ${name}`);
      throw error;
    } finally {
      this.#depth--;
    }
  }

  /** All or nothing, for work that passes through promises but waits for nothing outside of this process's own steps. */
  async exclusively<T>(work: () => Promise<T>): Promise<T> {
    this.#sqlite.exec("BEGIN IMMEDIATE");
    this.#depth++;
    try {
      const answer = await work();
      this.#sqlite.exec("COMMIT");
      return answer;
    } catch (error) {
      this.#takeBack("ROLLBACK");
      throw error;
    } finally {
      this.#depth--;
    }
  }

  close(): void {
    this.#statements.clear();
    this.#arrayStatements.clear();
    this.#sqlite.close();
  }

  /** A full disk has ended the whole transaction already. */
  #takeBack(sql: string): void {
    if (this.#sqlite.isTransaction) this.#sqlite.exec(sql);
  }

  #statement(sql: string): StatementSync {
    return kept(this.#statements, sql, () => this.#sqlite.prepare(sql));
  }

  #arrayStatement(sql: string): StatementSync {
    return kept(this.#arrayStatements, sql, () => {
      const statement = this.#sqlite.prepare(sql);
      statement.setReturnArrays(true);
      return statement;
    });
  }
}

/** The prepared statement of this text, forgetting the oldest one beyond a few hundred. */
function kept(statements: Map<string, StatementSync>, sql: string, prepare: () => StatementSync): StatementSync {
  const known = statements.get(sql);
  if (known) return known;
  if (statements.size >= KEPT_STATEMENTS) {
    const [oldest] = statements.keys();
    if (oldest !== undefined) statements.delete(oldest);
  }
  const statement = prepare();
  statements.set(sql, statement);
  return statement;
}

/** A name as SQL reads it, whatever it holds. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
