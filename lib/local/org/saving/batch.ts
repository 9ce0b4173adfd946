import type { Database } from "../store/database.ts";
import { type Outcome, refused, rolledBack } from "./outcome.ts";

class RolledBack extends Error {
  readonly outcomes: readonly Outcome[];

  constructor(outcomes: readonly Outcome[]) {
    super("rolled back");
    this.outcomes = outcomes;
  }
}

/** How the records of one request are saved together. */
export interface Batch<T> {
  readonly allOrNone: boolean;
  readonly one: (item: T) => Outcome;
  /** Upserts answer `created: true` even for a record that was refused (salesforce-facts 3.1). */
  readonly createdWhenRefused?: boolean;
}

/** Saves each item for itself, in order; with `allOrNone`, one refusal takes all others back. Runs inside a transaction. */
export function saveAll<T>(database: Database, items: readonly T[], batch: Batch<T>): readonly Outcome[] {
  if (!batch.allOrNone) return items.map((item) => attempt(database, item, batch));
  try {
    return database.transaction(() => {
      const outcomes = items.map((item) => attempt(database, item, batch));
      if (outcomes.some((outcome) => !outcome.success)) throw new RolledBack(outcomes);
      return outcomes;
    });
  } catch (error) {
    if (!(error instanceof RolledBack)) throw error;
    return error.outcomes.map(rolledBack);
  }
}

function attempt<T>(database: Database, item: T, { one, createdWhenRefused = false }: Batch<T>): Outcome {
  try {
    return database.transaction(() => one(item));
  } catch (error) {
    return refused(error, createdWhenRefused);
  }
}
