import type { Clock } from "../clock.ts";
import { Refusal } from "../refusal.ts";
import type { Database } from "../store/database.ts";

const DAY_MINUTES = 24 * 60;

/** The one place where API calls are counted, and where the daily allowance is kept (salesforce-facts 5). */
export class Calls {
  readonly #database: Database;
  readonly #clock: Clock;
  #allowance: number;
  #used = 0;
  #oldest = 0;

  constructor({ database, clock, allowance }: { database: Database; clock: Clock; allowance: number }) {
    this.#database = database;
    this.#clock = clock;
    this.#allowance = allowance;
    this.#recount(this.#minute());
  }

  get allowance(): number {
    return this.#allowance;
  }

  set allowance(calls: number) {
    this.#allowance = calls;
  }

  /** Calls of the last 24 hours, to the minute. */
  get used(): number {
    const minute = this.#minute();
    if (minute - DAY_MINUTES >= this.#oldest) this.#recount(minute);
    return this.#used;
  }

  get remaining(): number {
    return Math.max(0, this.#allowance - this.used);
  }

  /** Counts a call; when the allowance is used up it is refused, and not counted. */
  count(): void {
    if (this.used >= this.#allowance)
      throw new Refusal("REQUEST_LIMIT_EXCEEDED", "TotalRequests Limit exceeded.", { status: 403 });
    this.#used += 1;
    this.#database.run(
      "INSERT INTO _api_use VALUES (?, 1) ON CONFLICT (minute) DO UPDATE SET calls = calls + 1",
      this.#minute(),
    );
  }

  /** The plain form of the Sforce-Limit-Info header. */
  header(): string {
    return `api-usage=${this.used}/${this.#allowance}`;
  }

  /** Sets what has been used, for a test of what happens near the limit. */
  setUsed(calls: number): void {
    this.#database.run("DELETE FROM _api_use");
    this.#database.run("INSERT INTO _api_use VALUES (?, ?)", this.#minute(), calls);
    this.#recount(this.#minute());
  }

  #minute(): number {
    return Math.floor(this.#clock.now().getTime() / 60_000);
  }

  #recount(minute: number): void {
    this.#database.run("DELETE FROM _api_use WHERE minute <= ?", minute - DAY_MINUTES);
    const row = this.#database.first("SELECT sum(calls) AS used, min(minute) AS oldest FROM _api_use");
    this.#used = Number(row?.["used"] ?? 0);
    this.#oldest = Number(row?.["oldest"] ?? minute);
  }
}
