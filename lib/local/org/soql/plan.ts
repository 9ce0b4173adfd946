import type { Field } from "../metadata/field.ts";
import type { SObject } from "../metadata/sobject.ts";
import type { Stored } from "../store/database.ts";

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
}

/** How one thing in a SELECT list becomes a part of the answered record; `at` counts the columns of the row. */
export type Output = ValueOutput | ParentOutput | ChildrenOutput;

/** A field or the value of a function. */
export interface ValueOutput {
  readonly kind: "value";
  readonly name: string;
  readonly at: number;
  readonly field: Field;
  /** True for a function's value, which has no field of its own. */
  readonly isComputed: boolean;
}

/** A parent and its fields; null when its id is. */
export interface ParentOutput {
  readonly kind: "parent";
  readonly name: string;
  readonly idAt: number;
  /** The parent's object; null where the id shows which one it is. */
  readonly object: SObject | null;
  readonly outputs: Output[];
  /** For TYPEOF: the outputs by the name of the parent's object. */
  readonly byType: ReadonlyMap<string, Output[]> | null;
}

/** A child subquery, run once per record. */
export interface ChildrenOutput {
  readonly kind: "children";
  readonly name: string;
  readonly plan: Plan;
}
