import type { Clock } from "../clock.ts";
import { normalizeId, recordId } from "../ids.ts";
import { Refusal } from "../refusal.ts";
import type { Database } from "../store/database.ts";
import type { Plan } from "./plan.ts";

const TWO_DAYS_MS = 2 * 24 * 3600 * 1000;
const PREFIX = "01g";

/** An open query: which records it found, in their order. Their values are read page by page. */
export interface Cursor {
  readonly id: number;
  readonly soql: string;
  readonly includeDeleted: boolean;
  readonly total: number;
  readonly from: number;
}

/** The locators of queries with more than one page; they last two days, also across a restart (salesforce-facts 2.4). */
export class Cursors {
  readonly #database: Database;
  readonly #clock: Clock;

  constructor({ database, clock }: { database: Database; clock: Clock }) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Notes which records the plan finds now. */
  open(plan: Plan, includeDeleted: boolean): { id: number; total: number } {
    return this.#database.transaction(() => {
      this.#expire(this.#clock.now().getTime() - TWO_DAYS_MS);
      const opened = "INSERT INTO _cursor (soql, include_deleted, total, opened_at) VALUES (?, ?, 0, ?) RETURNING id";
      const id = Number(
        this.#database.first(opened, plan.soql, includeDeleted ? 1 : 0, this.#clock.now().getTime())?.["id"],
      );
      const found = `SELECT ${plan.alias}.rowid AS row FROM ${plan.from} WHERE ${plan.where}${plan.orderBy} LIMIT ${plan.limit ?? -1} OFFSET ${plan.offset}`;
      const total = this.#database.run(
        `INSERT INTO _cursor_row SELECT ?, row_number() OVER () - 1, row FROM (${found})`,
        id,
        ...plan.values,
      );
      this.#database.run("UPDATE _cursor SET total = ? WHERE id = ?", total, id);
      return { id, total };
    });
  }

  /** `01g…-2000`: the cursor and the number of the next record. */
  locator(id: number, from: number): string {
    return `${recordId(PREFIX, id)}-${from}`;
  }

  find(locator: string): Cursor {
    const [id15 = "", position = ""] = locator.split("-");
    const id = normalizeId(id15);
    const serial = id?.startsWith(PREFIX) ? serialOf(id) : -1;
    const row = this.#database.first("SELECT * FROM _cursor WHERE id = ?", serial);
    const from = /^\d+$/.test(position) ? Number(position) : -1;
    const isOpen = row !== undefined && Number(row["opened_at"]) > this.#clock.now().getTime() - TWO_DAYS_MS;
    if (!isOpen || from < 0 || from > Number(row["total"]))
      throw new Refusal("INVALID_QUERY_LOCATOR", "invalid query locator");
    return {
      id: serial,
      soql: String(row["soql"]),
      includeDeleted: row["include_deleted"] === 1,
      total: Number(row["total"]),
      from,
    };
  }

  /** Closes all cursors, as if their time were up. */
  closeAll(): void {
    this.#database.transaction(() => this.#expire(Number.MAX_SAFE_INTEGER));
  }

  close(id: number): void {
    this.#database.run("DELETE FROM _cursor_row WHERE cursor = ?", id);
    this.#database.run("DELETE FROM _cursor WHERE id = ?", id);
  }

  #expire(before: number): void {
    this.#database.run("DELETE FROM _cursor_row WHERE cursor IN (SELECT id FROM _cursor WHERE opened_at < ?)", before);
    this.#database.run("DELETE FROM _cursor WHERE opened_at < ?", before);
  }
}

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** The number in the last nine of an id's fifteen characters. */
function serialOf(id: string): number {
  return [...id.slice(6, 15)].reduce((sum, letter) => sum * 62 + BASE62.indexOf(letter), 0);
}
