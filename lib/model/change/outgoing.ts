import { traitsOf, type ValueKind } from "../mapping/field-type.ts";
import type { Column } from "../mapping/shape.ts";

/** A column's text in the form that Salesforce reads, null clearing the field; or why it cannot travel. */
export type OutgoingValue = { readonly text: string | null } | { readonly reason: string };

/** Turns PostgreSQL's text form of a value into that of Salesforce's SOAP and Bulk APIs (XML Schema types, UTC). */
export function outgoingValue(column: Column, text: string | null): OutgoingValue {
  // Salesforce keeps no NULL in a checkbox and no empty text in a field.
  const { kind } = traitsOf(column.type);
  if (text === null) return { text: kind === "boolean" ? "false" : null };
  return text === "" ? { text: null } : CONVERT[kind](text);
}

const CONVERT: Readonly<Record<ValueKind, (text: string) => OutgoingValue>> = {
  text: asText,
  choices: asText,
  number: asNumber,
  boolean: (text) => ({ text: text.startsWith("t") ? "true" : "false" }),
  date: (text) => (/^\d{4}-\d\d-\d\d$/.test(text) ? { text } : beyond(text)),
  time: asTime,
  instant: asInstant,
};

function asText(text: string): OutgoingValue {
  const bad = text.match(UNSENDABLE)?.[0];
  if (bad === undefined) return { text };
  return { reason: `the character U+${hex(bad)} cannot be sent to Salesforce; remove it from the text` };
}

// What XML 1.0 cannot carry, escaped or not: control characters, half a surrogate pair, two non-characters.
const UNSENDABLE = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u;

const hex = (character: string) => (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");

function asNumber(text: string): OutgoingValue {
  return /^-?\d/.test(text) ? { text } : beyond(text);
}

function asTime(text: string): OutgoingValue {
  const parts = /^(\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,3}))?)?/.exec(text);
  if (!parts) return beyond(text);
  const [, minutes, seconds = "00", fraction = ""] = parts;
  return { text: `${minutes}:${seconds}.${fraction.padEnd(3, "0")}Z` };
}

const INSTANT = /^(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?\s*(Z|[+-]\d\d(?::?\d\d)?(?::\d\d)?)?$/;

/** A timestamp without a zone is UTC, as in Heroku Connect's tables. */
function asInstant(text: string): OutgoingValue {
  const parts = INSTANT.exec(text);
  if (!parts) return beyond(text);
  const [, year, month, day, hour, minute, second = "00", fraction = "", zone = "Z"] = parts;
  const milliseconds = fraction.slice(0, 3).padEnd(3, "0");
  const local = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${milliseconds}Z`);
  if (Number.isNaN(local)) return beyond(text);
  return { text: new Date(local - offsetMilliseconds(zone)).toISOString() };
}

function offsetMilliseconds(zone: string): number {
  if (zone === "Z") return 0;
  const digits = zone.slice(1).replaceAll(":", "").padEnd(6, "0");
  const seconds = Number(digits.slice(0, 2)) * 3600 + Number(digits.slice(2, 4)) * 60 + Number(digits.slice(4, 6));
  return (zone.startsWith("-") ? -seconds : seconds) * 1000;
}

const beyond = (text: string): OutgoingValue => ({ reason: `Salesforce has no value for ${text.slice(0, 40)}` });
