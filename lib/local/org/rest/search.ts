import type { Field } from "../metadata/field.ts";
import { isStored } from "../metadata/field.ts";
import { traitsOf } from "../metadata/field-type.ts";
import type { SObject } from "../metadata/sobject.ts";
import { Refusal } from "../refusal.ts";
import { ok, type RestCall, type RestReply } from "../rest-call.ts";
import { quoted, type Stored } from "../store/database.ts";
import { restStyle } from "./rest-style.ts";

const SOSL =
  /^\s*FIND\s*\{([^}]*)\}\s*(?:IN\s+(ALL|NAME|EMAIL|PHONE)\s+FIELDS\s*)?(?:RETURNING\s+([\s\S]+?))?\s*(?:LIMIT\s+(\d+)\s*)?$/i;
const SEARCHED: Readonly<Record<string, readonly string[]>> = { NAME: ["string"], EMAIL: ["email"], PHONE: ["phone"] };
const DEFAULT_LIMIT = 2000;

/** `GET /search?q=FIND {text} IN ALL FIELDS RETURNING Account(Id, Name)`: SOSL in simple form, by plain comparison. */
export function search(call: RestCall): RestReply {
  const match = SOSL.exec(call.query.get("q") ?? "");
  if (!match)
    throw new Refusal("MALFORMED_SEARCH", "only FIND {text} [IN … FIELDS] [RETURNING …] [LIMIT n] is simulated");
  const [, text = "", scope = "ALL", returning, limit] = match;
  const pattern = `%${text
    .replace(/^["']|["']$/g, "")
    .replace(/\\(.)/g, "$1")
    .replace(/[%_]/g, "\\$&")
    .replace(/\*/g, "%")
    .replace(/\?/g, "_")}%`;
  const targets =
    returning === undefined
      ? call.parts.catalog.objects.filter((object) => object.searchable).map((object) => ({ object, rest: "Id" }))
      : targetsOf(call, returning);
  const searchRecords = targets.flatMap((target) => found(call, target, pattern, scope.toUpperCase()));
  return ok({ searchRecords: searchRecords.slice(0, Number(limit ?? DEFAULT_LIMIT)) });
}

interface Target {
  readonly object: SObject;
  /** The contents of the parentheses: fields, and perhaps WHERE, ORDER BY and LIMIT. */
  readonly rest: string;
}

function targetsOf(call: RestCall, returning: string): Target[] {
  return [...returning.matchAll(/(\w+)\s*(?:\(([^()]*(?:\([^()]*\)[^()]*)*)\))?\s*,?/g)].map(([, name = "", rest]) => {
    const object = call.parts.catalog.find(name);
    if (!object) throw new Refusal("INVALID_TYPE", `sObject type '${name}' is not supported.`);
    return { object, rest: rest ?? "Id" };
  });
}

function found(call: RestCall, { object, rest }: Target, pattern: string, scope: string): unknown[] {
  const fields = object.fields.filter((field) => isSearched(field, scope));
  if (fields.length === 0) return [];
  const alive = object.field("IsDeleted") ? '"IsDeleted" = 0 AND ' : "";
  const sql = `SELECT "Id" FROM ${quoted(object.name)} WHERE ${alive}(${fields.map((field) => `${quoted(field.name)} LIKE ?1 ESCAPE '\\'`).join(" OR ")}) LIMIT 2000`;
  const ids = call.parts.database.tuples(sql, [pattern] satisfies Stored[]).map(([id]) => `'${String(id)}'`);
  if (ids.length === 0) return [];
  const [, list = "Id", tail = ""] = /^([\s\S]*?)(\s+(?:WHERE|ORDER\s+BY|LIMIT)\b[\s\S]*)?$/i.exec(rest) ?? [];
  const where = /^\s*WHERE\b/i.test(tail)
    ? tail.replace(/^\s*WHERE\b/i, ` WHERE Id IN (${ids.join(",")}) AND `)
    : ` WHERE Id IN (${ids.join(",")})${tail}`;
  return call.parts.queries.first(`SELECT ${list} FROM ${object.name}${where}`, {
    includeDeleted: false,
    batchSize: 2000,
    style: restStyle(call.base),
  }).records;
}

function isSearched(field: Field, scope: string): boolean {
  if (!isStored(field) || !traitsOf(field.type).isSearched) return false;
  if (scope === "NAME") return field.nameField;
  return SEARCHED[scope]?.includes(field.type) ?? true;
}
