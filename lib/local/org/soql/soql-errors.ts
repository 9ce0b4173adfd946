import { Refusal, unsupportedType } from "../refusal.ts";

/** A refusal with the query, a caret under the offending word, and its place (salesforce-facts 8). */
export function queryRefusal(code: string, soql: string, word: string, message: string): Refusal {
  const line = soql.replace(/\s+/g, " ");
  const at = Math.max(0, line.search(new RegExp(`(?<![\\w.])${escaped(word)}(?!\\w)`, "i")));
  return new Refusal(code, `\n${line}\n${" ".repeat(at)}^\nERROR at Row:1:Column:${at + 1}\n${message}`);
}

function escaped(word: string): string {
  return word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

/** A field that the query names and the object does not have. */
export function noSuchColumn(soql: string, written: string, name: string, entity: string): Refusal {
  const advice =
    "If you are attempting to use a custom field, be sure to append the '__c' after the custom field name. Please reference your WSDL or the describe call for the appropriate names.";
  return queryRefusal("INVALID_FIELD", soql, written, `No such column '${name}' on entity '${entity}'. ${advice}`);
}

/** An object that the query names and the org does not have. */
export function noSuchObject(soql: string, name: string): Refusal {
  return queryRefusal("INVALID_TYPE", soql, name, unsupportedType(name).message);
}

/** What Salesforce says to a user without View All Data, of activities above all. */
export const TOO_LARGE = "exceeded 100000 distinct who/what's";
