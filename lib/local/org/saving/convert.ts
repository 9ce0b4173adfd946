import { normalizeId } from "../ids.ts";
import { type Field, isNumeric } from "../metadata/field.ts";
import { Refusal } from "../refusal.ts";
import type { Stored } from "../store/database.ts";
import { textOf } from "../text-of.ts";

/** A value from JSON as it is stored. Refuses what the field's type cannot hold (salesforce-facts 8: JSON_PARSER_ERROR). */
export function fromJson(field: Field, value: unknown): Stored {
  if (value === null || value === undefined) return emptyOf(field);
  if (typeof value === "object") throw wrongType(field, value);
  if (field.type === "boolean") {
    if (typeof value !== "boolean" && !/^(true|false)$/i.test(String(value))) throw wrongType(field, value);
  } else if (isNumeric(field)) {
    if (typeof value === "boolean" || (typeof value === "string" && !isNumber(value))) throw wrongType(field, value);
  }
  return fromText(field, String(value));
}

/** A value from XML or CSV as it is stored; empty text is no value. */
export function fromText(field: Field, written: string): Stored {
  const text = isKeptVerbatim(field) ? written : written.trimEnd();
  if (text === "") return emptyOf(field);
  if (field.type === "boolean") return booleanOf(field, text);
  if (isNumeric(field)) return numberOf(field, text);
  switch (field.type) {
    case "date":
      return dateOf(field, text);
    case "datetime":
      return dateTimeOf(field, text);
    case "time":
      return timeOf(field, text);
    case "id":
    case "reference":
      return idOf(field, text);
    case "multipicklist":
      return chosenOf(field, text);
    default:
      return text;
  }
}

/** No value: for a checkbox that is false, for all else null. */
function emptyOf(field: Field): Stored {
  return field.type === "boolean" ? 0 : null;
}

/** Trailing blanks are cut on save, but not inside encoded bytes. */
function isKeptVerbatim(field: Field): boolean {
  return field.type === "base64";
}

const isNumber = (text: string): boolean => /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text.trim());

function booleanOf(field: Field, text: string): Stored {
  if (/^(true|1)$/i.test(text)) return 1;
  if (/^(false|0)$/i.test(text)) return 0;
  throw wrongType(field, text);
}

function numberOf(field: Field, text: string): Stored {
  if (!isNumber(text)) throw wrongType(field, text);
  const value = Number(text);
  if (field.type === "int") {
    if (!Number.isInteger(value) || Math.abs(value) > 2_147_483_647) throw wrongType(field, text);
    return value;
  }
  // Places beyond the field's scale are kept (help article 000387302).
  if (field.precision > 0 && Math.abs(value) >= 10 ** (field.precision - field.scale)) {
    throw new Refusal(
      "NUMBER_OUTSIDE_VALID_RANGE",
      `${field.name}: value outside of valid range on numeric field: ${text}`,
      { fields: [field.name] },
    );
  }
  return value;
}

function dateOf(field: Field, text: string): string {
  const date = /^(\d{4}-\d\d-\d\d)(T.*|Z)?$/.exec(text)?.[1];
  const parsed = date === undefined ? Number.NaN : Date.parse(`${date}T00:00:00Z`);
  if (date === undefined || Number.isNaN(parsed) || new Date(parsed).toISOString().slice(0, 10) !== date)
    throw wrongType(field, text);
  return date;
}

/** Seconds are as precise as a datetime gets. */
function dateTimeOf(field: Field, text: string): string {
  const shape = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/;
  const iso = text.replace(/([+-]\d\d)(\d\d)$/, "$1:$2");
  const moment = shape.test(text)
    ? Date.parse(/(Z|[+-]\d\d:\d\d)$/.test(iso) ? iso : `${iso}${iso.includes("T") ? "" : "T00:00:00"}Z`)
    : Number.NaN;
  if (Number.isNaN(moment)) throw wrongType(field, text);
  return new Date(Math.floor(moment / 1000) * 1000).toISOString();
}

function timeOf(field: Field, text: string): string {
  const match = /^([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(\.\d{1,3})?)?Z?$/.exec(text);
  if (!match) throw wrongType(field, text);
  return `${match[1]}:${match[2]}:${match[3] ?? "00"}${(match[4] ?? ".").padEnd(4, "0")}Z`;
}

/** Each value once, in the order of the picklist; those that it does not have come last. */
function chosenOf({ picklist }: Field, text: string): Stored {
  const chosen = new Set(text.split(";").filter((value) => value !== ""));
  const known = picklist.flatMap(({ value }) => (chosen.delete(value) ? [value] : []));
  return [...known, ...chosen].join(";") || null;
}

function idOf(field: Field, text: string): string {
  const id = normalizeId(text);
  if (id === null)
    throw new Refusal("MALFORMED_ID", `${field.name}: id value of incorrect type: ${text}`, { fields: [field.name] });
  return id;
}

function wrongType(field: Field, value: unknown): Refusal {
  const kind =
    typeof value === "string"
      ? "VALUE_STRING"
      : typeof value === "boolean"
        ? `VALUE_${String(value).toUpperCase()}`
        : typeof value === "number"
          ? "VALUE_NUMBER"
          : Array.isArray(value)
            ? "START_ARRAY"
            : "START_OBJECT";
  return new Refusal(
    "JSON_PARSER_ERROR",
    `Cannot deserialize instance of ${field.type} from ${kind} value ${textOf(value)} or request may be missing a required field`,
    { fields: [field.name] },
  );
}
