import type { FunctionExp } from "@jetstreamapp/soql-parser-js";
import { makeField } from "../metadata/field.ts";
import { Refusal } from "../refusal.ts";
import type { Column } from "./query-scope.ts";

const NUMBER = makeField("expr", "int");

/** SQL of the date functions over ISO text. */
const DATE_PART: Readonly<Record<string, (sql: string) => string>> = {
  CALENDAR_YEAR: (sql) => `CAST(substr(${sql}, 1, 4) AS INTEGER)`,
  CALENDAR_QUARTER: (sql) => `((CAST(substr(${sql}, 6, 2) AS INTEGER) + 2) / 3)`,
  CALENDAR_MONTH: (sql) => `CAST(substr(${sql}, 6, 2) AS INTEGER)`,
  DAY_IN_MONTH: (sql) => `CAST(substr(${sql}, 9, 2) AS INTEGER)`,
  DAY_IN_WEEK: (sql) => `(CAST(strftime('%w', ${sql}) AS INTEGER) + 1)`,
  DAY_IN_YEAR: (sql) => `CAST(strftime('%j', ${sql}) AS INTEGER)`,
  WEEK_IN_MONTH: (sql) => `((CAST(substr(${sql}, 9, 2) AS INTEGER) + 6) / 7)`,
  WEEK_IN_YEAR: (sql) => `((CAST(strftime('%j', ${sql}) AS INTEGER) + 6) / 7)`,
  HOUR_IN_DAY: (sql) => `CAST(substr(${sql}, 12, 2) AS INTEGER)`,
};

const AGGREGATE: Readonly<Record<string, (sql: string) => string>> = {
  COUNT: (sql) => `count(${sql})`,
  COUNT_DISTINCT: (sql) => `count(DISTINCT ${sql})`,
  SUM: (sql) => `sum(${sql})`,
  AVG: (sql) => `avg(${sql})`,
  MIN: (sql) => `min(${sql})`,
  MAX: (sql) => `max(${sql})`,
};

/** True for COUNT, SUM and their like. */
export function isAggregateCall(call: { readonly functionName?: string }): boolean {
  return (call.functionName ?? "").toUpperCase() in AGGREGATE;
}

/** The column that a function gives, for a query that can resolve paths. */
export function callColumn(call: FunctionExp, resolve: (path: string) => Column): Column {
  const name = (call.functionName ?? "").toUpperCase();
  const [parameter] = call.parameters ?? [];
  if (name === "COUNT" && parameter === undefined) return { field: NUMBER, sql: "count(*)" };
  const inner = typeof parameter === "object" ? callColumn(parameter, resolve) : resolve(parameter ?? "");
  const aggregate = AGGREGATE[name];
  if (aggregate) return aggregated(name, aggregate(inner.sql), inner);
  const part = DATE_PART[name.replace("FISCAL_", "CALENDAR_")];
  if (part) return { field: NUMBER, sql: part(inner.sql) };
  if (name === "DAY_ONLY") return { field: makeField(inner.field.name, "date"), sql: `substr(${inner.sql}, 1, 10)` };
  if (["TOLABEL", "FORMAT", "CONVERTTIMEZONE", "CONVERTCURRENCY"].includes(name)) return inner;
  throw new Refusal("MALFORMED_QUERY", `Invalid function: ${call.functionName ?? ""}`);
}

function aggregated(name: string, sql: string, inner: Column): Column {
  if (name.startsWith("COUNT")) return { field: NUMBER, sql };
  const canAggregate =
    name === "MIN" || name === "MAX"
      ? inner.field.filterable && inner.field.type !== "boolean"
      : inner.field.precision > 0 || inner.field.type === "int";
  if (canAggregate) return { field: name === "AVG" ? makeField("avg", "double") : inner.field, sql };
  throw new Refusal("MALFORMED_QUERY", `field ${inner.field.name} does not support aggregate operator ${name}`);
}
