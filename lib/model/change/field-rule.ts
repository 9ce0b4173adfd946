import { traitsOf } from "../mapping/field-type.ts";
import type { Column } from "../mapping/shape.ts";
import { textLimit } from "./text-limit.ts";

const BY_TYPE: Readonly<Partial<Record<Column["type"], string>>> = {
  email: "an e-mail address",
  url: "a URL",
  phone: "a phone number",
  picklist: "one of the picklist's values",
  int: "a whole number",
  long: "a whole number",
  reference: "the id of a record",
};

const BY_KIND = {
  text: "a text",
  choices: "values of the picklist, with semicolons between them",
  number: "a number",
  boolean: "true or false",
  date: "a date such as 2026-01-31",
  time: "a time such as 14:30:00",
  instant: "a time such as 2026-01-31T14:30:00Z",
} as const;

/** What a field takes, by its describe: `an e-mail address of at most 80 characters, required`. */
export function ruleOf(column: Column): string {
  const { type, nillable, parent } = column;
  const takes = parent ? "the external id of a parent" : (BY_TYPE[type] ?? BY_KIND[traitsOf(type).kind]);
  const limit = textLimit(column);
  const most = limit === null ? "" : ` of at most ${limit.toLocaleString("en-US")} characters`;
  return `${takes}${most}${nillable || type === "boolean" ? "" : ", required"}`;
}
