import type { Catalog } from "../metadata/catalog.ts";
import type { Field } from "../metadata/field.ts";
import { Refusal } from "../refusal.ts";
import type { Database, Stored } from "../store/database.ts";
import type { Records } from "../store/records.ts";
import { type Batch, saveAll } from "./batch.ts";
import type { Draft } from "./draft.ts";
import { type Merged, mergeRecords } from "./merger.ts";
import { accepted, type Outcome, refused } from "./outcome.ts";
import { Remover } from "./remover.ts";
import { Saver, textsOf } from "./saver.ts";
import type { Saving } from "./saving.ts";

interface Needs {
  readonly database: Database;
  readonly records: Records;
  readonly catalog: Catalog;
  /** Receives a record that was created or changed, within its transaction. */
  readonly saved: (object: string, id: string) => void;
}

/** The one engine behind REST, SOAP and Bulk: what may be done with a list of records, each with its own outcome. */
export class Dml {
  readonly saver: Saver;
  readonly remover: Remover;
  readonly #needs: Needs;

  constructor(needs: Needs) {
    this.saver = new Saver(needs);
    this.remover = new Remover({ ...needs, saver: this.saver });
    this.#needs = needs;
  }

  create(drafts: readonly Draft[], allOrNone: boolean, saving: Saving): readonly Outcome[] {
    return this.#drafts(drafts, saving, {
      allOrNone,
      one: (draft) => accepted(this.saver.create(draft, saving), true),
    });
  }

  /** The same id twice fails both times. */
  update(drafts: readonly Draft[], allOrNone: boolean, saving: Saving): readonly Outcome[] {
    const repeated = repeatedOf(drafts.map((draft) => draft.id));
    return this.#drafts(drafts, saving, {
      allOrNone,
      one: (draft) => {
        if (draft.id !== null && repeated.has(draft.id))
          throw new Refusal("DUPLICATE_VALUE", `Duplicate id specified: ${draft.id}`);
        this.saver.update(draft, saving);
        return accepted(String(draft.id));
      },
    });
  }

  /** The same key twice fails both times. */
  upsert(drafts: readonly Draft[], key: Field, allOrNone: boolean, saving: Saving): readonly Outcome[] {
    const keyOf = (draft: Draft): Stored => (key.type === "id" ? draft.id : (draft.values.get(key) ?? null));
    const repeated = repeatedOf(drafts.map((draft) => comparable(key, keyOf(draft))));
    return this.#drafts(drafts, saving, {
      allOrNone,
      createdWhenRefused: true,
      one: (draft) => {
        const value = keyOf(draft);
        const what = key.type === "id" ? "id" : "external id";
        if (value !== null && repeated.has(comparable(key, value) ?? ""))
          throw new Refusal("DUPLICATE_VALUE", `Duplicate ${what} specified: ${String(value)}`);
        const { id, created } = this.saver.upsert(draft, key, saving);
        return accepted(id, created);
      },
    }).map((outcome, index) => this.#asUpsert(outcome, drafts[index], key));
  }

  /** The ids of the records that an upsert will find by its key. */
  idsByKey(drafts: readonly Draft[], key: Field): readonly string[] {
    return drafts.flatMap((draft) => this.#matched(draft, key) ?? []);
  }

  delete(ids: readonly string[], allOrNone: boolean, saving: Saving): readonly Outcome[] {
    const bare = this.#refusal(() => {
      const object = this.#needs.catalog.ofId(ids[0] ?? "");
      if (object) saving.beforeChunk(object, ids.length, () => ids);
    });
    return this.#all(ids, { allOrNone, one: orRefuse(bare, (id) => accepted(this.remover.remove(id, saving))) });
  }

  undelete(ids: readonly string[], allOrNone: boolean, saving: Saving): readonly Outcome[] {
    return this.#all(ids, { allOrNone, one: (id) => accepted(this.remover.undelete(id, saving)) });
  }

  /** Removes for good what is alive or in the recycle bin. */
  hardDelete(ids: readonly string[], saving: Saving): readonly Outcome[] {
    return this.#all(ids, { allOrNone: false, one: (id) => accepted(this.remover.destroy(id, saving)) });
  }

  /** Merges records into a master; throws a Refusal or has done all of it. */
  merge(master: Draft, loserIds: readonly string[], saving: Saving): Merged {
    return mergeRecords({ ...this.#needs, saver: this.saver }, master, loserIds, saving);
  }

  /** The records of one transaction run through their object's triggers together; what was unreadable does not. */
  #drafts(drafts: readonly Draft[], saving: Saving, batch: Batch<Draft>): readonly Outcome[] {
    const readable = drafts.filter(({ refusal }) => refusal === null);
    const refusal = this.#refusal(() => {
      const [first] = readable;
      if (first)
        saving.beforeChunk(first.object, readable.length, () =>
          readable.flatMap((draft) => [draft.id ?? "", ...textsOf(draft)]),
        );
    });
    const one = (draft: Draft) => (draft.refusal ? batch.one : orRefuse(refusal, batch.one))(draft);
    return this.#all(drafts, { ...batch, one });
  }

  #refusal(ask: () => void): Refusal | null {
    try {
      ask();
      return null;
    } catch (error) {
      if (error instanceof Refusal) return error;
      throw error;
    }
  }

  #all<T>(items: readonly T[], batch: Batch<T>): readonly Outcome[] {
    return saveAll(this.#needs.database, items, batch);
  }

  #matched(draft: Draft, key: Field): string | null {
    try {
      return this.saver.match(draft, key);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return null; // the save itself says why
    }
  }

  /** A refused upsert says `created: false` only where its record is there already. */
  #asUpsert(outcome: Outcome, draft: Draft | undefined, key: Field): Outcome {
    if (outcome.success || !draft) return outcome;
    try {
      return { ...outcome, created: this.saver.match(draft, key) === null };
    } catch (error) {
      return { ...outcome, created: refused(error).errors[0]?.statusCode !== "DUPLICATE_EXTERNAL_ID" };
    }
  }
}

/** Refuses each record of a transaction that was refused as a whole. */
function orRefuse<T>(refusal: Refusal | null, one: Batch<T>["one"]): Batch<T>["one"] {
  if (refusal === null) return one;
  return () => {
    throw refusal;
  };
}

/** External ids are the same whatever their case, unless the field says otherwise. */
function comparable(key: Field, value: Stored): string | null {
  if (value === null) return null;
  return key.caseSensitive || key.type === "id" ? String(value) : String(value).toLowerCase();
}

function repeatedOf(values: readonly (string | null)[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const value of values) {
    if (value === null) continue;
    if (seen.has(value)) repeated.add(value);
    seen.add(value);
  }
  return repeated;
}
