import type {
  FieldSubquery,
  FieldType,
  FieldTypeOf,
  FunctionExp,
  GroupByClause,
  OrderByClause,
  Query,
  QueryBase,
} from "@jetstreamapp/soql-parser-js";
import type { Catalog } from "../metadata/catalog.ts";
import type { Field } from "../metadata/field.ts";
import type { SObject } from "../metadata/sobject.ts";
import { Refusal } from "../refusal.ts";
import type { Stored } from "../store/database.ts";
import { quoted } from "../store/database.ts";
import { noSuchColumn, noSuchObject, queryRefusal } from "./errors.ts";
import { callColumn, isAggregateCall } from "./functions.ts";
import type { Output, ParentOutput } from "./outputs.ts";
import { conditionTree, parseSoql } from "./parse.ts";
import { Aliases, type Column, noSuchRelationship, Scope } from "./scope.ts";
import { ConditionSql } from "./where.ts";

/** A query ready to run: SQL by its parts, and how its rows become records. */
export interface Plan {
  readonly soql: string;
  readonly object: SObject;
  readonly alias: string;
  readonly columns: readonly string[];
  readonly outputs: readonly Output[];
  readonly from: string;
  readonly where: string;
  readonly tail: string;
  readonly orderBy: string;
  /** The values of WHERE and HAVING, in their order. */
  readonly values: readonly Stored[];
  readonly limit: number | null;
  readonly offset: number;
  readonly isAggregate: boolean;
  /** `SELECT COUNT()`: only the number is asked for. */
  readonly isCount: boolean;
  /** `FOR VIEW`: whoever asks looks at the records. */
  readonly isView: boolean;
}

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
  readonly #columns: string[] = [];
  readonly #outputs: Output[] = [];
  readonly #aggregates: boolean;
  #unnamed = 0;

  constructor(context: Context, object: SObject, query: QueryBase, alias: string | undefined) {
    this.#context = context;
    this.#query = query;
    this.#scope = new Scope(context, object, alias);
    const calls = (query.fields ?? []).some(
      (field) => field.type === "FieldFunctionExpression" && isAggregateCall(field),
    );
    this.#aggregates = calls || query.groupBy !== undefined;
  }

  /** The plan; `link` restricts a child query to the children of one parent, whose id is the first value. */
  plan(link?: Field): Plan {
    const query = this.#query;
    const isCount = isCountOnly(query);
    if (!this.#aggregates) this.#columns.push(`${this.#scope.alias}."Id"`);
    if (!isCount) for (const field of this.#fields()) this.#select(field);
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
      columns: this.#columns,
      outputs: this.#outputs,
      from: this.#scope.from(),
      where,
      tail,
      orderBy,
      values: conditions.values,
      limit: query.limit ?? null,
      offset: query.offset ?? 0,
      isAggregate: this.#aggregates,
      isCount,
      isView: query.for === "VIEW",
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

  /** The SELECT list with FIELDS() written out. */
  #fields(): FieldType[] {
    return (this.#query.fields ?? []).flatMap((field): FieldType[] => {
      if (field.type !== "FieldFunctionExpression" || field.functionName.toUpperCase() !== "FIELDS") return [field];
      const which = String(field.parameters[0] ?? "").toUpperCase();
      if (which !== "STANDARD" && !((this.#query.limit ?? Number.POSITIVE_INFINITY) <= 200)) {
        throw new Refusal("MALFORMED_QUERY", "The SOQL FIELDS function must have a LIMIT of at most 200");
      }
      const isWanted = (candidate: Field) => which === "ALL" || candidate.custom === (which === "CUSTOM");
      return this.#scope.object.fields.filter(isWanted).map((chosen) => ({ type: "Field", field: chosen.name }));
    });
  }

  #select(field: FieldType): void {
    switch (field.type) {
      case "Field":
        this.#selectPath([...prefixOf(field), ...field.field.split(".")], field.alias);
        break;
      case "FieldRelationship":
        this.#selectPath(
          [...prefixOf(field), ...field.relationships, field.field],
          "alias" in field ? field.alias : undefined,
        );
        break;
      case "FieldFunctionExpression":
        this.#selectCall(field);
        break;
      case "FieldSubquery":
        this.#selectChildren(field);
        break;
      case "FieldTypeof":
        this.#selectTypeOf(field);
    }
  }

  #add(sql: string): number {
    return this.#columns.push(sql) - 1;
  }

  #selectPath(path: readonly string[], alias: string | undefined): void {
    const { field, sql } = this.#scope.column(path);
    const last = path[path.length - 1] ?? "";
    if (this.#aggregates) {
      this.#requireGrouped(path.join("."));
      this.#outputs.push({ kind: "value", name: alias ?? field.name, at: this.#add(sql), field, isComputed: true });
      return;
    }
    const parents = this.#parentNames(path);
    const outputs = this.#home(parents);
    const name = last.toLowerCase() === field.name.toLowerCase() ? field.name : last;
    if (outputs.some((output) => output.kind === "value" && output.name === name)) {
      throw queryRefusal(
        "MALFORMED_QUERY",
        this.#context.soql,
        path.join("."),
        `duplicate field selected: ${path.join(".")}`,
      );
    }
    outputs.push({ kind: "value", name, at: this.#add(sql), field, isComputed: false });
  }

  /** The relationships that a path walks, without the query's own name before them. */
  #parentNames(path: readonly string[]): readonly string[] {
    const names = path.slice(0, -1);
    const [first] = names;
    return first !== undefined && !this.#scope.object.relationship(first) ? names.slice(1) : names;
  }

  /** The outputs of the parent at the end of these relationships, made on first use. */
  #home(relationships: readonly string[]): Output[] {
    let outputs: Output[] = this.#outputs;
    let place = { object: this.#scope.object, alias: this.#scope.alias };
    for (const name of relationships) {
      const reference = place.object.relationship(name);
      if (!reference) throw noSuchRelationship(this.#context.soql, name, place.object);
      const relationship = reference.relationshipName ?? name;
      let parent = outputs.find(
        (output): output is ParentOutput => output.kind === "parent" && output.name === relationship,
      );
      const idSql = `${place.alias}.${quoted(reference.name)}`;
      const isFixed = reference.referenceTo.length === 1;
      const next = isFixed ? this.#scope.parent(place.object, place.alias, name) : null;
      if (!parent) {
        parent = {
          kind: "parent",
          name: relationship,
          idAt: this.#add(idSql),
          object: next?.object ?? null,
          outputs: [],
          byType: null,
        };
        outputs.push(parent);
      }
      outputs = parent.outputs;
      if (next) place = next;
    }
    return outputs;
  }

  #selectCall(call: FunctionExp): void {
    const { field, sql } = this.#call(call);
    const [parameter] = call.parameters ?? [];
    const isLabel = /^(toLabel|format|convertCurrency)$/i.test(call.functionName ?? "");
    const name = call.alias ?? (isLabel && typeof parameter === "string" ? field.name : `expr${this.#unnamed++}`);
    this.#outputs.push({ kind: "value", name, at: this.#add(sql), field, isComputed: true });
  }

  #selectChildren({ subquery }: FieldSubquery): void {
    const name = subquery.relationshipName;
    const relationship = this.#context.catalog.childRelationship(this.#scope.object, name);
    if (!relationship) throw noSuchRelationship(this.#context.soql, name, this.#scope.object);
    const compiler = new Compiler(this.#context, relationship.child, subquery, undefined);
    this.#outputs.push({ kind: "children", name: relationship.name ?? name, plan: compiler.plan(relationship.field) });
  }

  #selectTypeOf({ field, conditions }: FieldTypeOf): void {
    const reference = this.#scope.object.relationship(field);
    if (!reference) throw noSuchRelationship(this.#context.soql, field, this.#scope.object);
    const idAt = this.#add(`${this.#scope.alias}.${quoted(reference.name)}`);
    const byType = new Map<string, Output[]>();
    for (const { objectType, fieldList } of conditions) {
      if (objectType !== undefined) byType.set(objectType.toLowerCase(), this.#typed(reference, objectType, fieldList));
    }
    const otherwise = conditions.find((condition) => condition.type === "ELSE")?.fieldList ?? [];
    const outputs = otherwise.map((name): Output => {
      const column = this.#scope.column([field, name]);
      return {
        kind: "value",
        name: column.field.name,
        at: this.#add(column.sql),
        field: column.field,
        isComputed: false,
      };
    });
    this.#outputs.push({
      kind: "parent",
      name: reference.relationshipName ?? field,
      idAt,
      object: null,
      outputs,
      byType,
    });
  }

  #typed(reference: Field, objectType: string, names: readonly string[]): Output[] {
    const target = this.#context.catalog.find(objectType);
    if (!target) throw noSuchObject(this.#context.soql, objectType);
    const { alias } = this.#scope.join(this.#scope.alias, reference, target);
    return names.map((name): Output => {
      const chosen = target.field(name);
      if (!chosen) throw noSuchColumn(this.#context.soql, name, name, target.name);
      return {
        kind: "value",
        name: chosen.name,
        at: this.#add(`${alias}.${quoted(chosen.name)}`),
        field: chosen,
        isComputed: false,
      };
    });
  }

  #requireGrouped(path: string): void {
    const groups = arrayOf<GroupByClause>(this.#query.groupBy);
    if (groups.some((group) => "field" in group && group.field.toLowerCase() === path.toLowerCase())) return;
    throw queryRefusal("MALFORMED_QUERY", this.#context.soql, path, `Field must be grouped or aggregated: ${path}`);
  }

  #where(conditions: ConditionSql, link: Field | undefined): string {
    const parts: string[] = [];
    if (link) parts.push(`${this.#scope.alias}.${quoted(link.name)} = ?`);
    if (!this.#context.includeDeleted && this.#scope.object.field("IsDeleted"))
      parts.push(`${this.#scope.alias}."IsDeleted" = 0`);
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
    const named = this.#outputs.find(
      (output) => output.kind === "value" && output.isComputed && output.name.toLowerCase() === path.toLowerCase(),
    );
    if (named?.kind === "value" && !this.#scope.object.field(path))
      return { field: named.field, sql: this.#columns[named.at] ?? "NULL" };
    return this.#column(path);
  }
}

/** The alias before a field, as in `c.Name`. */
function prefixOf(field: FieldType): string[] {
  return "objectPrefix" in field ? [field.objectPrefix] : [];
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

function arrayOf<T>(value: T | T[] | undefined): T[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
