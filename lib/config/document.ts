import * as z from "zod/mini";
import type { FailureDetail } from "../model/failure.ts";
import { detailPath } from "../model/mapping/detail-path.ts";
import { nearest } from "../model/nearest.ts";
import { fieldNameProblem } from "./identifiers.ts";
import {
  apiName,
  MAX_FIELDS,
  mappingRules,
  type Settings,
  settingsOf,
  switchable,
  tableName,
  word,
} from "./mapping-rules.ts";

/** The format's version (contract 9). */
export const DOCUMENT_VERSION = 1;

/** What one import may hold. */
const MAX_MAPPINGS = 2000;

/** One mapping of a config document, checked for itself; null is what it does not say. */
export interface Entry {
  /** Its place in the document: `mappings[3]`. */
  readonly path: string;
  readonly objectName: string;
  readonly access: "read_only" | "read_write" | null;
  readonly fields: readonly string[] | null;
  readonly upsertField: string | null;
  readonly settings: Settings;
  /** Keys of `config` that have no meaning here. */
  readonly foreign: Readonly<Record<string, unknown>>;
}

/** A document's entries, or all that is wrong with it. */
export type Parsed =
  | { readonly entries: readonly Entry[]; readonly problems: readonly [] }
  | { readonly entries: readonly []; readonly problems: readonly FailureDetail[] };

/**
 * Reads a config document: our own export, bare or in its envelope, or Heroku Connect's (heroku-connect-facts
 * 2.1). Keys that have no meaning here are kept or ignored, never refused.
 */
export function parseDocument(given: unknown): Parsed {
  const judged = document.safeParse(withoutEnvelope(given));
  if (!judged.success) {
    return {
      entries: [],
      problems: judged.error.issues.map(({ path, message }) => ({ path: detailPath(path) || "body", message })),
    };
  }
  const entries = judged.data.mappings.map(entryOf);
  const problems = duplicates(entries);
  return problems.length === 0 ? { entries, problems: [] } : { entries: [], problems };
}

const fields = z
  .record(z.string(), z.unknown(), { error: "must be an object: field names, each with an object" })
  .check((context) => {
    const names = Object.keys(context.value);
    const refuse = (path: string[], message: string) =>
      context.issues.push({ code: "custom", input: context.value, path, message });
    if (names.length > MAX_FIELDS) refuse([], `must name at most ${MAX_FIELDS} fields`);
    for (const name of names) {
      const problem = fieldNameProblem(name);
      if (problem) refuse([name], problem);
      else if (!isObject(context.value[name])) refuse([name], "must be an object, {} will do");
    }
    for (const name of twice(names)) refuse([name], "is named twice, for case does not count");
  });

const { sf_polling_seconds: polling, upsert_field: upsert, ...ofBridge } = mappingRules;

const bridge = z.looseObject(
  { pg_table: z.optional(tableName()), active: z.optional(switchable()), ...ofBridge },
  { error: "must be an object" },
);

const config = z.looseObject(
  {
    access: z.optional(word(["read_only", "read_write"])),
    sf_notify_enabled: mappingRules.sf_notify_enabled,
    sf_polling_seconds: polling,
    fields: z.optional(fields),
    upsert_field: upsert,
    bridge: z.optional(bridge),
  },
  { error: "must be an object" },
);

const document = z.object(
  {
    version: z.literal(DOCUMENT_VERSION, { error: `must be ${DOCUMENT_VERSION}` }),
    mappings: z
      .array(z.object({ object_name: apiName(), config }, { error: "must be an object" }), {
        error: "must be a list",
      })
      .check(z.maxLength(MAX_MAPPINGS, { error: `must hold at most ${MAX_MAPPINGS} mappings` })),
  },
  { error: "must be a config document: an object with version and mappings" },
);

type Mapped = z.infer<typeof document>["mappings"][number];

const KNOWN = new Set(["access", "sf_notify_enabled", "sf_polling_seconds", "fields", "upsert_field", "bridge"]);

/** What Heroku Connect writes of its own history, which is none of the next export's. */
const FORGOTTEN = new Set(["applied_at", "revision"]);

/** What else its exports of all years hold (heroku-connect-facts 2.1): kept, and `indexes` are built. */
const THEIRS = ["indexes", "sf_max_daily_api_calls"];

/** Foreign keys beyond this many bytes are ignored: they live in the mapping's item. */
const MAX_FOREIGN_BYTES = 64 * 1024;

function entryOf({ object_name, config: given }: Mapped, at: number): Entry {
  const { sf_notify_enabled, sf_polling_seconds, upsert_field } = given;
  return {
    path: `mappings[${at}]`,
    objectName: object_name,
    access: given.access ?? null,
    fields: given.fields === undefined ? null : Object.keys(given.fields),
    upsertField: upsert_field ?? null,
    settings: settingsOf({ ...given.bridge, sf_notify_enabled, sf_polling_seconds, upsert_field }),
    foreign: foreignOf(given),
  };
}

function foreignOf(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const kept = Object.entries(given).filter(([key]) => !KNOWN.has(key) && !FORGOTTEN.has(key));
  const foreign = Object.fromEntries(kept);
  return Buffer.byteLength(JSON.stringify(foreign)) > MAX_FOREIGN_BYTES ? {} : foreign;
}

/** A key that an import does not know, and those that it does at that place. */
interface UnknownKey {
  readonly path: string;
  readonly key: string;
  readonly known: readonly string[];
}

/** The warning of such a key, with the nearest one that is known. */
export const unknownKeyWarning = ({ path, key, known }: UnknownKey): FailureDetail => ({
  path: detailPath([path]),
  message: `is not known and has no effect; the nearest that has is ${nearest(key, known)}`,
});

/** Keys of a well-formed document that an import does not know. */
export function unknownKeys(given: unknown): readonly UnknownKey[] {
  const strays = (path: string, part: unknown, known: readonly string[]) =>
    Object.keys(isObject(part) ? part : {})
      .filter((key) => !known.includes(key))
      .map((key) => ({ path: path === "" ? key : `${path}.${key}`, key, known }));
  const whole = withoutEnvelope(given);
  const { mappings } = whole as { readonly mappings: readonly { readonly config: Record<string, unknown> }[] };
  return [
    ...strays("", whole, ["version", "mappings", "connection"]),
    ...mappings.flatMap((entry, at) => [
      ...strays(`mappings[${at}]`, entry, ["object_name", "config"]),
      ...strays(`mappings[${at}].config`, entry.config, [...KNOWN, ...FORGOTTEN, ...THEIRS]),
      ...strays(`mappings[${at}].config.bridge`, entry.config["bridge"], Object.keys(bridge.shape)),
    ]),
  ];
}

function withoutEnvelope(given: unknown): unknown {
  return isObject(given) && given["success"] === true && isObject(given["data"]) ? given["data"] : given;
}

function duplicates(entries: readonly Entry[]): readonly FailureDetail[] {
  const objects = new Set<string>();
  const tables = new Set<string>();
  return entries.flatMap(({ path, objectName, settings: { pgTable } }) => {
    const object = objectName.toLowerCase();
    const table = pgTable ?? object;
    const again = objects.has(object)
      ? [{ path: `${path}.object_name`, message: "is in this document twice" }]
      : tables.has(table)
        ? [{ path: `${path}.config.bridge.pg_table`, message: "is the table of another entry" }]
        : [];
    objects.add(object);
    tables.add(table);
    return again;
  });
}

/** The names that came before in another or the same case. */
function twice(names: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const again = new Set<string>();
  for (const name of names) {
    if (seen.has(name.toLowerCase())) again.add(name);
    seen.add(name.toLowerCase());
  }
  return again;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
