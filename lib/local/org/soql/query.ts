import type { Clock } from "../clock.ts";
import type { Catalog } from "../metadata/catalog.ts";
import { Refusal } from "../refusal.ts";
import type { Database, Stored } from "../store/database.ts";
import { compile } from "./compile.ts";
import { Cursors } from "./cursors.ts";
import type { Plan } from "./plan.ts";
import { type Answer, Renderer, type Style } from "./render.ts";

interface Needs {
  readonly database: Database;
  readonly catalog: Catalog;
  readonly clock: Clock;
}

/** One page of a query's answer. */
export interface Page {
  readonly totalSize: number;
  readonly records: Answer[];
  /** Where the next page begins, null on the last one. */
  readonly locator: string | null;
  readonly plan: Plan;
}

/** Runs SOQL and gives its answer page by page. */
export class Queries {
  readonly #needs: Needs;
  readonly cursors: Cursors;

  constructor(needs: Needs) {
    this.#needs = needs;
    this.cursors = new Cursors(needs);
  }

  plan(soql: string, includeDeleted: boolean): Plan {
    return compile({ catalog: this.#needs.catalog, now: this.#needs.clock.now() }, soql, includeDeleted);
  }

  /** The first page; `batchSize` records a page at most. */
  first(
    soql: string,
    { includeDeleted, batchSize, style }: { includeDeleted: boolean; batchSize: number; style: Style },
  ): Page {
    const plan = this.plan(soql, includeDeleted);
    if (plan.isCount) return { totalSize: this.#count(plan), records: [], locator: null, plan };
    if (plan.isAggregate) return this.#aggregate(plan, style);
    const rows = this.#needs.database.tuples(
      `${selectOf(plan)} LIMIT ${Math.min(plan.limit ?? batchSize + 1, batchSize + 1)} OFFSET ${checkedOffset(plan)}`,
      plan.values,
    );
    if (rows.length <= batchSize)
      return { totalSize: rows.length, records: this.#records(plan, rows, style), locator: null, plan };
    const cursor = this.cursors.open(plan, includeDeleted);
    return this.#page(plan, { ...cursor, from: 0 }, batchSize, style);
  }

  /** The page at a locator, or INVALID_QUERY_LOCATOR. */
  next(locator: string, { batchSize, style }: { batchSize: number; style: Style }): Page {
    const cursor = this.cursors.find(locator);
    return this.#page(this.plan(cursor.soql, cursor.includeDeleted), cursor, batchSize, style);
  }

  #page(plan: Plan, cursor: { id: number; total: number; from: number }, batchSize: number, style: Style): Page {
    const sql = `SELECT ${plan.columns.join(", ")} FROM _cursor_row cursor CROSS JOIN ${plan.from.replace(` ${plan.alias}`, ` ${plan.alias} ON ${plan.alias}.rowid = cursor.row`)} WHERE cursor.cursor = ? AND cursor.position >= ? AND cursor.position < ? ORDER BY cursor.position`;
    const until = cursor.from + batchSize;
    const rows = this.#needs.database.tuples(sql, [cursor.id, cursor.from, until]);
    const locator = until < cursor.total ? this.cursors.locator(cursor.id, until) : null;
    return { totalSize: cursor.total, records: this.#records(plan, rows, style), locator, plan };
  }

  #count(plan: Plan): number {
    const inner = `SELECT 1 FROM ${plan.from} WHERE ${plan.where}${plan.limit === null ? "" : ` LIMIT ${plan.limit}`}`;
    return Number(this.#needs.database.tuples(`SELECT count(*) FROM (${inner})`, plan.values)[0]?.[0]);
  }

  #aggregate(plan: Plan, style: Style): Page {
    const rows = this.#needs.database.tuples(
      `${selectOf(plan)} LIMIT ${plan.limit ?? 2001} OFFSET ${checkedOffset(plan)}`,
      plan.values,
    );
    if (rows.length > 2000)
      throw new Refusal(
        "EXCEEDED_ID_LIMIT",
        "Aggregate query does not support queryMore(), use LIMIT to restrict the results to a single batch",
      );
    const renderer = this.#renderer(style);
    const records = rows.map((row) => renderer.record("AggregateResult", null, plan.outputs, row));
    return { totalSize: records.length, records, locator: null, plan };
  }

  #records(plan: Plan, rows: Stored[][], style: Style): Answer[] {
    const renderer = this.#renderer(style);
    return rows.map((row) => renderer.record(plan.object.name, String(row[0]), plan.outputs, row));
  }

  #renderer(style: Style): Renderer {
    return new Renderer(this.#needs.catalog, style, ({ plan }, parentId) =>
      this.#needs.database.tuples(`${selectOf(plan)} LIMIT ${plan.limit ?? -1} OFFSET ${plan.offset}`, [
        parentId,
        ...plan.values,
      ]),
    );
  }
}

/** The SELECT of a plan, without its limit. */
function selectOf(plan: Plan): string {
  return `SELECT ${plan.columns.join(", ")} FROM ${plan.from} WHERE ${plan.where}${plan.tail}${plan.orderBy}`;
}

function checkedOffset(plan: Plan): number {
  if (plan.offset > 2000) throw new Refusal("NUMBER_OUTSIDE_VALID_RANGE", "Maximum SOQL offset allowed is 2000");
  return plan.offset;
}
