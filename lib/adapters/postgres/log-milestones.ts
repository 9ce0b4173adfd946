import { DatabaseUnavailable } from "../../monitoring/ports.ts";
import { askTogether } from "../ask-together.ts";
import { wholeTotal } from "./log-query.ts";
import type { Row } from "./session.ts";
import { literal, type Metadata } from "./sql.ts";

export interface Spacing {
  /** Rows from one milestone to the next. */
  readonly step: number;
  /** How many milestones one page sets at most; a longer way is known after several pages. */
  readonly stepsAtOnce: number;
}

/**
 * PostgreSQL walks over 65,536 entries of an index in some 4 ms. Where it knows nothing of the log it takes each entry for
 * one of another page, and with longer steps would rather read and sort all of a log that is not very long.
 */
const SPACING: Spacing = { step: 256, stepsAtOnce: 256 };

/** Those of a hundred million rows. */
const MOST_MILESTONES = 400_000;

/** Forgotten then, so that a database restored from a copy, or a log that somebody has written into by hand, is read anew. */
const KEPT_MILLISECONDS = 10 * 60 * 1000;

/** A database that is this slow is asked for the page alone: learning makes later ones faster, and this one slower. */
const SLOW_MILLISECONDS = 1_000;

/** After so long there is no time for the page, whose own deadline is 15 s, before whoever asked for it has gone. */
const MOST_MILLISECONDS = 10_000;

/** Asks the log's database. */
export type AskLog = (text: string, values: readonly unknown[]) => Promise<readonly Row[]>;

/** What is known before a page is looked for, of one moment. */
interface LogFacts {
  readonly total: number;
  /** Rows from the newest milestone on, itself among them; 0 where there is none. Not counted to its end where it is long. */
  readonly tail: number;
  /** Whether the newest milestone is still a row: not of a log that was emptied, or restored from a copy. */
  readonly isKnown: boolean;
  /** The greatest id that was ever taken out of the log; null where the log does not tell it yet (`log-pruning.ts`). */
  readonly prunedTo: number | null;
}

export interface Milestone {
  readonly id: number;
  /** How many rows of the log have this id or a greater one. */
  readonly rowsBefore: number;
}

interface Place {
  readonly total: number;
  readonly milestone: Milestone | null;
}

/**
 * Where every 256th row of one log lies, so that a page anywhere in it is found in a few steps. Ids have gaps, so whoever
 * wants the 500,000th row has to count; but of rows whose transactions are all over the count stays, until some are taken
 * out of the log, which its trigger tells (`log-pruning.ts`). Nothing is kept in the database: each process learns by the
 * pages that it is asked for, and what it does not know yet it walks.
 */
export class LogMilestones {
  readonly #tables: Metadata;
  readonly #now: () => Date;
  readonly #together = askTogether();
  readonly #spacing: Spacing;
  /** Where more rows than this came since, they are not counted to their end, and milestones are set anew. */
  readonly #longestTail: number;
  /** Ids, newest first: exactly a step's rows lie from each one, itself among them, to the one before it. */
  #ids: readonly number[] = [];
  #since = 0;
  #isWhole = false;
  #isLearning = false;
  #open: Horizon | null = null;

  constructor(tables: Metadata, now: () => Date, spacing = SPACING) {
    this.#tables = tables;
    this.#now = now;
    this.#spacing = spacing;
    this.#longestTail = spacing.step * spacing.stepsAtOnce;
  }

  /**
   * How many rows the log has, and the milestone nearest before one of them, the newest being row 0; null: none is known.
   * Rejects with `DatabaseUnavailable`.
   */
  async before(row: number, ask: AskLog): Promise<Place> {
    const began = this.#now().getTime();
    const waited = () => this.#now().getTime() - began;
    const place = await this.#placeOf(row, ask, waited);
    if (waited() > MOST_MILLISECONDS) throw new DatabaseUnavailable("query", "it did not answer in time", undefined);
    return place;
  }

  async #placeOf(row: number, ask: AskLog, waited: () => number): Promise<Place> {
    const { known, facts } = await this.#together("facts", () => this.#readFacts(ask));
    const { total, prunedTo } = facts;
    if (prunedTo === null || row >= total) return { total, milestone: null };

    const isSlow = waited() > SLOW_MILLISECONDS;
    const { ids, tail } = await this.#learn({ known, facts: { ...facts, prunedTo }, row, ask, isSlow });
    const steps = Math.min(Math.floor((row - tail) / this.#spacing.step), ids.length - 1);
    const id = ids[steps];
    return { total, milestone: id === undefined ? null : { id, rowsBefore: tail + steps * this.#spacing.step } };
  }

  async #readFacts(ask: AskLog): Promise<{ readonly known: readonly number[]; readonly facts: LogFacts }> {
    if (this.#now().getTime() - this.#since > KEPT_MILLISECONDS) this.#forget();
    const known = this.#ids;
    const [row] = await ask(factsStatement(this.#tables), [known[0] ?? null, this.#longestTail + 1]);
    const facts = {
      total: Number(row?.["total"] ?? 0),
      tail: Number(row?.["tail"] ?? 0),
      isKnown: row?.["is_known"] === true,
      prunedTo: toNumber(row?.["pruned_to"]),
    };
    return { known, facts };
  }

  /** What may be relied on for this page, and a little more for the next ones; one page at a time learns. */
  async #learn({ known, facts, row, ask, isSlow }: LearningPage): Promise<Known> {
    const { step } = this.#spacing;
    const { tail, isKnown, prunedTo } = facts;
    const ids = this.#lasting(known, prunedTo);
    const isLost = ids.length === 0 || !isKnown || tail > this.#longestTail;
    const now: Known = isLost ? NOTHING : { ids, tail };
    if (this.#isLearning || isSlow) return now;
    this.#isLearning = true;
    try {
      const mayDescend = !isLost && !this.#isWhole && ids.length < MOST_MILESTONES;
      if (mayDescend && row - tail >= ids.length * step) return { ids: await this.#descend(ids, prunedTo, ask), tail };
      if (isLost) await this.#begin(ids, ask);
      else if (tail >= 2 * step) await this.#climb(ids, ask);
      return now; // what lies before newer milestones is told to the next page
    } finally {
      this.#isLearning = false;
    }
  }

  /** Without those behind which rows may have been taken out. */
  #lasting(known: readonly number[], prunedTo: number): readonly number[] {
    const lasting = known.findLastIndex((id) => id > prunedTo) + 1;
    return lasting === known.length ? known : this.#keep(known, known.slice(0, lasting));
  }

  async #begin(known: readonly number[], ask: AskLog): Promise<void> {
    const closed = await this.#closedUpTo(ask);
    if (closed === null || this.#ids !== known) return;
    this.#forget();
    this.#ids = [closed];
  }

  async #climb(known: readonly number[], ask: AskLog): Promise<void> {
    const [top = 0] = known;
    const closed = await this.#closedUpTo(ask);
    if (closed === null || closed <= top) return;
    const newer = await this.#steps(climbStatement(this.#tables), [top, closed], ask);
    this.#keep(known, [...newer.toReversed(), ...known]);
  }

  async #descend(known: readonly number[], prunedTo: number, ask: AskLog): Promise<readonly number[]> {
    const older = await this.#steps(descendStatement(this.#tables), [known.at(-1) ?? 0, prunedTo], ask);
    if (older.length < this.#spacing.stepsAtOnce && this.#ids === known) this.#isWhole = true;
    return this.#keep(known, [...known, ...older]);
  }

  async #steps(text: string, [from, to]: readonly [number, number], ask: AskLog): Promise<readonly number[]> {
    const { step, stepsAtOnce } = this.#spacing;
    return (await ask(text, [from, to, stepsAtOnce, step])).map(({ id }) => Number(id));
  }

  /** Unless others have learnt or forgotten meanwhile. */
  #keep(known: readonly number[], learnt: readonly number[]): readonly number[] {
    if (this.#ids === known) this.#ids = learnt;
    return learnt;
  }

  #forget(): void {
    this.#ids = [];
    this.#since = this.#now().getTime();
    this.#isWhole = false;
    this.#open = null;
  }

  /**
   * An id up to which no row can come any more; null while a transaction is open that may have taken one. Whoever writes the
   * log holds a lock on it from before he takes an id until all see what he wrote, and ids are taken in their order: once
   * none of the writers is left who were there when a row was seen, all rows before that one are seen.
   */
  async #closedUpTo(ask: AskLog): Promise<number | null> {
    const [row] = await ask(horizonStatement(this.#tables), []);
    const newest = toNumber(row?.["newest"]);
    if (newest === null || !Number.isSafeInteger(newest)) return null;
    const writers = row?.["writers"] === null ? [] : String(row?.["writers"]).split(" ");
    const first = this.#open && this.#open.id <= newest ? this.#open : { id: newest, writers };
    if (writers.some((writer) => first.writers.includes(writer) || writer.startsWith(PREPARED))) {
      this.#open = first;
      return null;
    }
    this.#open = writers.length > 0 ? { id: newest, writers } : null;
    return this.#open ? first.id : newest;
  }
}

/** A transaction of two phases: between them it holds its locks under another name than before. */
const PREPARED = "-1/";

/** No bigint is greater. */
const LAST_ID = "9223372036854775807";

interface Known {
  readonly ids: readonly number[];
  readonly tail: number;
}

const NOTHING: Known = { ids: [], tail: 0 };

interface LearningPage {
  readonly known: readonly number[];
  readonly facts: LogFacts & { readonly prunedTo: number };
  readonly row: number;
  readonly ask: AskLog;
  readonly isSlow: boolean;
}

/** The newest row that was seen while these transactions wrote the log. */
interface Horizon {
  readonly id: number;
  readonly writers: readonly string[];
}

/**
 * The column is asked for as a member of the row: schemas of an earlier version lack it until their daily look. The tail is
 * a range with two ends, of which the planner expects little, however little it knows; else it would read the whole log.
 */
const factsStatement = (tables: Metadata): string => `
  SELECT ${wholeTotal(tables)} AS total,
    (SELECT count(*) FROM (SELECT FROM ${tables.log} WHERE id >= $1::bigint AND id <= ${LAST_ID} LIMIT $2::bigint) AS tail) AS tail,
    EXISTS (SELECT FROM ${tables.log} WHERE id = $1::bigint) AS is_known,
    (SELECT CASE count(*) WHEN 0 THEN 0 ELSE max((to_jsonb(t) ->> 'pruned_to')::bigint) END FROM ${tables.totals} t) AS pruned_to`;

/** Locks are read after the row, and told away after what was written is seen. */
const horizonStatement = ({ log }: Metadata): string => `
  SELECT (SELECT id FROM ${log} ORDER BY id DESC LIMIT 1) AS newest,
    (SELECT string_agg(virtualtransaction, ' ') FROM pg_locks
      WHERE relation = ${literal(log)}::regclass AND mode = 'RowExclusiveLock'
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS writers`;

/** The next milestones after `$1`, up to `$2`, at most `$3`, `$4` rows apart; nearest first. */
const climbStatement = (tables: Metadata): string =>
  stepsStatement(tables, "id >= step.id ORDER BY id OFFSET $4", "<=");

/** Those before it, down to `$2`. */
const descendStatement = (tables: Metadata): string =>
  stepsStatement(tables, "id < step.id ORDER BY id DESC OFFSET -1 + $4", ">");

/** Each step reads on in the order of the key: of a range with two ends the planner would expect little, and sort it. */
const stepsStatement = ({ log }: Metadata, next: string, within: "<=" | ">"): string => `
  WITH RECURSIVE steps (id, taken) AS (
    SELECT $1::bigint, 0
    UNION ALL SELECT (SELECT id FROM ${log} WHERE ${next}::int LIMIT 1), step.taken + 1
    FROM steps step WHERE step.taken < $3::int AND step.id ${within} $2::bigint
  ) SELECT id FROM steps WHERE taken > 0 AND id ${within} $2::bigint ORDER BY taken`;

const toNumber = (value: unknown): number | null => (value === null || value === undefined ? null : Number(value));
