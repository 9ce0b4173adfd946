import type {
  FieldSubquery,
  FieldType,
  FieldTypeOf,
  FunctionExp,
  GroupByClause,
  QueryBase,
} from "@jetstreamapp/soql-parser-js";
import type { Catalog } from "../metadata/catalog.ts";
import type { Field } from "../metadata/field.ts";
import type { SObject } from "../metadata/sobject.ts";
import { Refusal } from "../refusal.ts";
import { quoted } from "../store/database.ts";
import { callColumn } from "./functions.ts";
import { arrayOf } from "./parse-soql.ts";
import type { Output, ParentOutput, Plan } from "./plan.ts";
import { noSuchRelationship, type Scope } from "./query-scope.ts";
import { noSuchColumn, noSuchObject, queryRefusal } from "./soql-errors.ts";

interface Needs {
  readonly catalog: Catalog;
  readonly soql: string;
  readonly query: QueryBase;
  readonly scope: Scope;
  readonly isAggregate: boolean;
  /** The plan of a child subquery, whose records the link ties to their parent. */
  readonly children: (child: SObject, subquery: QueryBase, link: Field) => Plan;
}

/** What a query selects: the columns of its SQL, and how they become the parts of a record. */
export class SelectList {
  readonly columns: string[] = [];
  readonly outputs: Output[] = [];
  readonly #catalog: Catalog;
  readonly #soql: string;
  readonly #query: QueryBase;
  readonly #scope: Scope;
  readonly #isAggregate: boolean;
  readonly #children: Needs["children"];
  #unnamed = 0;

  constructor({ catalog, soql, query, scope, isAggregate, children }: Needs) {
    this.#catalog = catalog;
    this.#soql = soql;
    this.#query = query;
    this.#scope = scope;
    this.#isAggregate = isAggregate;
    this.#children = children;
    // Every record has its id in its attributes, selected or not.
    if (!isAggregate) this.columns.push(`${scope.alias}."Id"`);
  }

  /** Takes in the whole list. */
  read(): void {
    for (const field of this.#fields()) this.#select(field);
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
    return this.columns.push(sql) - 1;
  }

  #selectPath(path: readonly string[], alias: string | undefined): void {
    const { field, sql } = this.#scope.column(path);
    const last = path[path.length - 1] ?? "";
    if (this.#isAggregate) {
      this.#requireGrouped(path.join("."));
      this.outputs.push({ kind: "value", name: alias ?? field.name, at: this.#add(sql), field, isComputed: true });
      return;
    }
    const parents = this.#parentNames(path);
    const outputs = this.#home(parents);
    const name = last.toLowerCase() === field.name.toLowerCase() ? field.name : last;
    if (outputs.some((output) => output.kind === "value" && output.name === name)) {
      throw queryRefusal("MALFORMED_QUERY", this.#soql, path.join("."), `duplicate field selected: ${path.join(".")}`);
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
    let outputs: Output[] = this.outputs;
    let place = { object: this.#scope.object, alias: this.#scope.alias };
    for (const name of relationships) {
      const reference = place.object.relationship(name);
      if (!reference) throw noSuchRelationship(this.#soql, name, place.object);
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
    const { field, sql } = callColumn(call, (path) => this.#scope.column(path.split(".")));
    const [parameter] = call.parameters ?? [];
    const isLabel = /^(toLabel|format|convertCurrency)$/i.test(call.functionName ?? "");
    const name = call.alias ?? (isLabel && typeof parameter === "string" ? field.name : `expr${this.#unnamed++}`);
    this.outputs.push({ kind: "value", name, at: this.#add(sql), field, isComputed: true });
  }

  #selectChildren({ subquery }: FieldSubquery): void {
    const name = subquery.relationshipName;
    const relationship = this.#catalog.childRelationship(this.#scope.object, name);
    if (!relationship) throw noSuchRelationship(this.#soql, name, this.#scope.object);
    const plan = this.#children(relationship.child, subquery, relationship.field);
    this.outputs.push({ kind: "children", name: relationship.name ?? name, plan });
  }

  #selectTypeOf({ field, conditions }: FieldTypeOf): void {
    const reference = this.#scope.object.relationship(field);
    if (!reference) throw noSuchRelationship(this.#soql, field, this.#scope.object);
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
    this.outputs.push({
      kind: "parent",
      name: reference.relationshipName ?? field,
      idAt,
      object: null,
      outputs,
      byType,
    });
  }

  #typed(reference: Field, objectType: string, names: readonly string[]): Output[] {
    const target = this.#catalog.find(objectType);
    if (!target) throw noSuchObject(this.#soql, objectType);
    const { alias } = this.#scope.join(this.#scope.alias, reference, target);
    return names.map((name): Output => {
      const chosen = target.field(name);
      if (!chosen) throw noSuchColumn(this.#soql, name, name, target.name);
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
    throw queryRefusal("MALFORMED_QUERY", this.#soql, path, `Field must be grouped or aggregated: ${path}`);
  }
}

/** The alias before a field, as in `c.Name`. */
function prefixOf(field: FieldType): string[] {
  return "objectPrefix" in field ? [field.objectPrefix] : [];
}
