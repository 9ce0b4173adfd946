import * as z from "zod/mini";
import { BATCH_SIZE } from "../model/change/ways.ts";
import { isDeleteLimit } from "../model/mapping/delete-breaker.ts";
import {
  CAPTURE_MODES,
  CHECKS_BEFORE_SAVE,
  CONFLICT_POLICIES,
  type Mapping,
  SYNC_DIRECTIONS,
} from "../model/mapping/mapping.ts";
import { isOneLine } from "../model/one-line.ts";
import { apiNameProblem, fieldNameProblem, tableNameProblem } from "./identifiers.ts";

/** A mapping's settings by their words in the config document, in the order in which changes are listed. */
const SETTINGS = {
  pg_table: "pgTable",
  sync_direction: "syncDirection",
  active: "active",
  upsert_field: "upsertField",
  sf_polling_seconds: "pollingSeconds",
  when_quiet_seconds: "whenQuietSeconds",
  sf_notify_enabled: "notifyEnabled",
  conflict_policy: "conflictPolicy",
  capture: "capture",
  delete_limit: "deleteLimit",
  sweep_days: "sweepDays",
  keep_history: "keepHistory",
  check_before_save: "checkBeforeSave",
  batch_size: "batchSize",
  filter: "filter",
} as const satisfies Record<string, keyof Mapping>;

type Word = keyof typeof SETTINGS;

/** Settings of a mapping as given; undefined: not given. */
export type Settings = { readonly [W in Word as (typeof SETTINGS)[W]]?: Mapping[(typeof SETTINGS)[W]] | undefined };

/** Settings that were said in the document's words. */
export function settingsOf(said: { readonly [W in Word]?: Mapping[(typeof SETTINGS)[W]] | undefined }): Settings {
  return Object.fromEntries(Object.entries(SETTINGS).map(([word, name]) => [name, said[word as Word]]));
}

/** All settings of a mapping in the document's words. */
export function inWords(mapping: Mapping): Readonly<Record<Word, unknown>> {
  const all = Object.entries(SETTINGS).map(([word, name]) => [word, mapping[name]]);
  return Object.fromEntries(all) as Record<Word, unknown>;
}

/** What one mapping may hold. */
export const MAX_FIELDS = 800;
const MAX_FILTER = 4000;

/** One of some words, exactly as written. */
export const word = <const Words extends readonly string[]>(words: Words) =>
  z.enum(words, { error: `must be one of ${words.join(", ")}` });

export const switchable = () => z.boolean({ error: "must be true or false" });

const named = (problem: (name: string) => string | null) =>
  z.string({ error: "must be a text" }).check((context) => {
    const message = problem(context.value);
    if (message !== null) context.issues.push({ code: "custom", input: context.value, message });
  });

export const apiName = () => named(apiNameProblem);
export const fieldName = () => named(fieldNameProblem);
export const tableName = () => named(tableNameProblem);

/** The text alone distinguishes a share from a number. */
const deleteLimit = () => z.string({ error: LIMITS }).check(z.refine(isDeleteLimit, { error: LIMITS }));

const LIMITS = 'must be a text: a number of deletes an hour ("500"), a share of the table ("25%"), "off" or "auto"';

const CONTROLS = "must not hold control characters, but for line breaks and tabs";

const DAYS = "must be a whole number of days, 1 to 30";

const seconds = (error: string) =>
  z
    .int({ error })
    .check(z.gte(10, { error: "must be at least 10" }), z.lte(86_400, { error: "must be at most 86400" }));

/** Of a mapping or of its workspace. */
export const whenQuietRule = z.optional(z.nullable(seconds("must be a whole number of seconds, or null")));

/** What a filter says is judged where the object is known. Cycles send it in the URL of a query. */
export const filterRule = () =>
  z.string({ error: "must be a text or null" }).check(
    z.maxLength(MAX_FILTER, { error: `must have at most ${MAX_FILTER} characters` }),
    z.refine((text) => isOneLine(text.replaceAll(/[\t\r\n]/g, " ")), { error: CONTROLS }),
  );

/** What a mapping's settings may be, wherever they are said; each may be left out. */
export const mappingRules = {
  sync_direction: z.optional(word(SYNC_DIRECTIONS)),
  sf_polling_seconds: z.optional(seconds("must be a whole number of seconds")),
  when_quiet_seconds: whenQuietRule,
  sf_notify_enabled: z.optional(switchable()),
  upsert_field: z.optional(z.nullable(apiName())),
  conflict_policy: z.optional(word(CONFLICT_POLICIES)),
  capture: z.optional(word(CAPTURE_MODES)),
  delete_limit: z.optional(deleteLimit()),
  sweep_days: z.optional(z.int({ error: DAYS }).check(z.gte(1, { error: DAYS }), z.lte(30, { error: DAYS }))),
  check_before_save: z.optional(word(CHECKS_BEFORE_SAVE)),
  keep_history: z.optional(switchable()),
  batch_size: z.optional(
    z
      .int({ error: "must be a whole number of records" })
      .check(z.gte(1, { error: "must be at least 1" }), z.lte(BATCH_SIZE, { error: `must be at most ${BATCH_SIZE}` })),
  ),
  filter: z.optional(z.nullable(filterRule())),
};
