import type { FunctionExp, GroupByClause, OrderByClause, Query, QueryBase } from "@jetstreamapp/soql-parser-js";
import type { Catalog } from "../metadata/catalog.ts";
import type { Field } from "../metadata/field.ts";
import type { SObject } from "../metadata/sobject.ts";
import { Refusal } from "../refusal.ts";
import type { Stored } from "../store/database.ts";
import { quoted } from "../store/database.ts";
import { callColumn, isAggregateCall } from "./functions.ts";
import { arrayOf, conditionTree, parseSoql } from "./parse-soql.ts";
import type { Plan } from "./plan.ts";
import { Aliases, type Column, Scope } from "./query-scope.ts";
import { SelectList } from "./select-list.ts";
import { noSuchObject } from "./soql-errors.ts";
import { ConditionSql } from "./where.ts";

interface Context {
  readonly catalog: Catalog;
  readonly soql: string;
  readonly now: Date;
  readonly includeDeleted: boolean;
  readonly aliases: Aliases;
}

/** Reads SOQL and turns it into a plan; refuses what Salesforce refuses. */
export function compile(needs: { catalog: Catalog; now: Date }, soql: string, includeDeleted: boolean): Plan {
  const context = { ...needs, soql, includeDeleted, aliases: new Aliases() };
  const query = parseSoql(soql);
  const object = needs.catalog.find(query.sObject ?? "");
  if (!object) throw noSuchObject(soql, query.sObject ?? "");
  return new Compiler(context, object, query, query.sObjectAlias).plan();
}

class Compiler {
  readonly #context: Context;
  readonly #query: QueryBase;
  readonly #scope: Scope;
  readonly #list: SelectList;
  readonly #aggregates: boolean;

  constructor(context: Context, object: SObject, query: QueryBase, alias: string | undefined) {
    this.#context = context;
    this.#query = query;
    this.#scope = new Scope(context, object, alias);
    const calls = (query.fields ?? []).some(
      (field) => field.type === "FieldFunctionExpression" && isAggregateCall(field),
    );
    this.#aggregates = calls || query.groupBy !== undefined;
    this.#list = new SelectList({
      catalog: context.catalog,
      soql: context.soql,
      query,
      scope: this.#scope,
      isAggregate: this.#aggregates,
      children: (child, subquery, link) => new Compiler(context, child, subquery, undefined).plan(link),
    });
  }

  /** The plan; `link` restricts a child query to the children of one parent, whose id is the first value. */
  plan(link?: Field): Plan {
    const query = this.#query;
    const isCount = isCountOnly(query);
    if (!isCount) this.#list.read();
    const conditions = new ConditionSql({
      now: this.#context.now,
      column: (path) => this.#column(path),
      call: (call) => this.#call(call),
      subquery: (inner) => this.#semiJoin(inner),
    });
    const where = this.#where(conditions, link);
    const tail = this.#groupBy(conditions);
    const orderBy = this.#orderBy();
    return {
      soql: this.#context.soql,
      object: this.#scope.object,
      alias: this.#scope.alias,
      columns: this.#list.columns,
      outputs: this.#list.outputs,
      from: this.#scope.from(),
      where,
      tail,
      orderBy,
      values: conditions.values,
      limit: query.limit ?? null,
      offset: query.offset ?? 0,
      isAggregate: this.#aggregates,
      isCount,
    };
  }

  /** The SELECT of `IN (SELECT …)`, for its one field. */
  semiJoin(): { sql: string; values: readonly Stored[] } {
    const plan = this.plan();
    const [output] = plan.outputs;
    const column = output?.kind === "value" ? plan.columns[output.at] : undefined;
    if (column === undefined || plan.outputs.length !== 1)
      throw new Refusal("MALFORMED_QUERY", "Only one field can be selected in a semi join or anti join");
    return {
      sql: `SELECT ${column} FROM ${plan.from} WHERE (${plan.where}) AND ${column} IS NOT NULL${plan.tail}`,
      values: plan.values,
    };
  }

  #column(path: string): Column {
    return this.#scope.column(path.split("."));
  }

  #call(call: FunctionExp): Column {
    return callColumn(call, (path) => this.#column(path));
  }

  #semiJoin(query: Query) {
    const object = this.#context.catalog.find(query.sObject ?? "");
    if (!object) throw noSuchObject(this.#context.soql, query.sObject ?? "");
    return new Compiler(this.#context, object, query, query.sObjectAlias).semiJoin();
  }

  #where(conditions: ConditionSql, link: Field | undefined): string {
    const parts: string[] = [];
    if (link) parts.push(`${this.#scope.alias}.${quoted(link.name)} = ?`);
    // Only queryAll shows what is deleted, or archived as Salesforce does with old activities.
    for (const hidden of this.#context.includeDeleted ? [] : ["IsDeleted", "IsArchived"])
      if (this.#scope.object.field(hidden)) parts.push(`${this.#scope.alias}."${hidden}" = 0`);
    if (this.#query.where) parts.push(`(${conditions.of(conditionTree(this.#context.soql, this.#query.where))})`);
    return parts.length === 0 ? "1" : parts.join(" AND ");
  }

  #groupBy(conditions: ConditionSql): string {
    const groups = arrayOf<GroupByClause>(this.#query.groupBy).map((group) => {
      const { field, sql } = "field" in group ? this.#column(group.field) : this.#call(group.fn);
      if ("fn" in group && /^(rollup|cube)$/i.test(group.fn.functionName ?? ""))
        throw new Refusal("MALFORMED_QUERY", "GROUP BY ROLLUP and CUBE are not simulated");
      if ("field" in group && !field.groupable)
        throw new Refusal("MALFORMED_QUERY", `field '${field.name}' can not be grouped in a query call`);
      return sql;
    });
    const groupBy = groups.length > 0 ? ` GROUP BY ${groups.join(", ")}` : "";
    const having = this.#query.having
      ? ` HAVING ${conditions.of(conditionTree(this.#context.soql, this.#query.having))}`
      : "";
    return groupBy + having;
  }

  #orderBy(): string {
    const terms = arrayOf<OrderByClause>(this.#query.orderBy).map((term) => {
      const { field, sql } = "fn" in term ? this.#call(term.fn) : this.#orderColumn(term.field);
      if (!field.sortable)
        throw new Refusal("MALFORMED_QUERY", `field '${field.name}' can not be sorted in a query call`);
      const direction = term.order === "DESC" ? "DESC" : "ASC";
      const nullsByDefault = direction === "ASC" ? "FIRST" : "LAST";
      const nulls = term.nulls && term.nulls !== nullsByDefault ? ` NULLS ${term.nulls}` : "";
      return `${sql} ${direction}${nulls}`;
    });
    return terms.length > 0 ? ` ORDER BY ${terms.join(", ")}` : "";
  }

  /** An aggregate query may sort by the alias of a column. */
  #orderColumn(path: string): Column {
    const named = this.#list.outputs.find(
      (output) => output.kind === "value" && output.isComputed && output.name.toLowerCase() === path.toLowerCase(),
    );
    if (named?.kind === "value" && !this.#scope.object.field(path))
      return { field: named.field, sql: this.#list.columns[named.at] ?? "NULL" };
    return this.#column(path);
  }
}

function isCountOnly(query: QueryBase): boolean {
  const [field, another] = query.fields ?? [];
  return (
    field?.type === "FieldFunctionExpression" &&
    another === undefined &&
    field.functionName.toUpperCase() === "COUNT" &&
    field.parameters.length === 0 &&
    query.groupBy === undefined
  );
}
