import { type Clock, stampOf } from "../clock.ts";
import type { Saving } from "../saving/saving.ts";
import type { Database } from "../store/database.ts";

/** A save waits this long for a record that another transaction holds, then fails with UNABLE_TO_LOCK_ROW. */
const LOCK_WAIT_MS = 10_000;

interface Open {
  readonly startedAt: Date;
  readonly ids: ReadonlySet<string>;
  readonly ended: Promise<void>;
}

/** How work is committed; an all-or-none composite binds it to a transaction that is open already. */
export interface Committing {
  readonly oldestStart: Date | null;
  save<T>(save: Save<T>): Promise<T>;
}

/** What is saved, by whom, and how long its commit is held back. */
export interface Save<T> {
  readonly userId: string;
  /** The records that it will change, as far as their ids are known. */
  readonly ids: readonly string[];
  /** Those that it will find by a key; looked for only where records are held. */
  readonly idsByKey?: () => readonly string[];
  readonly beforeRecord: Saving["beforeRecord"];
  readonly beforeChunk: Saving["beforeChunk"];
  readonly headers: Saving["headers"];
  /** How long the transaction has not begun yet, though the request is there. */
  readonly startsInMs?: number;
  readonly holdMs: number;
  readonly work: (saving: Saving) => T;
}

/**
 * Every save of the org runs here. A transaction takes its stamp when it begins; one that is held back commits later
 * under that stamp, as a long one does in Salesforce, and keeps its records locked until then (salesforce-facts 9).
 */
export class Transactions implements Committing {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #open = new Set<Open>();

  constructor({ database, clock }: { database: Database; clock: Clock }) {
    this.#database = database;
    this.#clock = clock;
  }

  /** When the longest open transaction began; nothing later is settled yet. */
  get oldestStart(): Date | null {
    return [...this.#open].reduce<Date | null>(
      (oldest, { startedAt }) => (oldest === null || startedAt < oldest ? startedAt : oldest),
      null,
    );
  }

  async save<T>(save: Save<T>): Promise<T> {
    if (save.startsInMs) await this.#clock.sleep(save.startsInMs);
    const startedAt = this.#clock.now();
    const matters = save.holdMs > 0 || this.#open.size > 0;
    const complete = matters && save.idsByKey ? { ...save, ids: [...save.ids, ...save.idsByKey()] } : save;
    if (save.holdMs > 0) return await this.#held(complete, startedAt);
    await this.#lockFree(complete.ids);
    return this.#commit(complete, startedAt);
  }

  /** Saves of a transaction that began earlier and that its opener commits: nothing is waited for. */
  immediate(startedAt: Date): Committing {
    return { oldestStart: this.oldestStart, save: async (save) => this.#commit(save, startedAt) };
  }

  async #held<T>(save: Save<T>, startedAt: Date): Promise<T> {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    await this.#lockFree(save.ids);
    const open: Open = { startedAt, ids: new Set(save.ids), ended };
    this.#open.add(open);
    try {
      await this.#clock.sleep(save.holdMs);
      this.#open.delete(open);
      return this.#commit(save, startedAt);
    } finally {
      this.#open.delete(open);
      end();
    }
  }

  async #lockFree(ids: readonly string[]): Promise<void> {
    const holders = [...this.#open].filter((open) => ids.some((id) => open.ids.has(id)));
    if (holders.length === 0) return;
    await Promise.race([Promise.all(holders.map((open) => open.ended)), this.#clock.sleep(LOCK_WAIT_MS)]);
  }

  #commit<T>({ userId, ids, beforeRecord, beforeChunk, headers, work }: Save<T>, startedAt: Date): T {
    const lockedIds = new Set(ids.filter((id) => [...this.#open].some((open) => open.ids.has(id))));
    return this.#database.transaction(() =>
      work({ userId, startedAt, stamp: stampOf(startedAt), lockedIds, beforeRecord, beforeChunk, headers }),
    );
  }
}
