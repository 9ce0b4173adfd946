import { Failure, type FailureDetail } from "../model/failure.ts";
import { newId } from "../model/id.ts";
import { askedIndexes } from "../model/mapping/asked-indexes.ts";
import { parseFilter, renderFilter } from "../model/mapping/filter.ts";
import { type Mapping, pushes } from "../model/mapping/mapping.ts";
import { lackingFields, reportLacking } from "../model/mapping/required-fields.ts";
import { changedMapping, contradictsItself, newMapping } from "./changed-mapping.ts";
import type { Entry } from "./document.ts";
import type { OrgObject } from "./org-ports.ts";
import type { MappingChange } from "./ports.ts";
import { spellNames } from "./spell-names.ts";

interface Given {
  readonly workspaceId: string;
  readonly at: Date;
  readonly existing: readonly Mapping[];
  readonly entries: readonly Entry[];
  /** Objects of the org by their lower-case name, for every entry that `needsDescribe` names, and parents that they name. */
  readonly described: ReadonlyMap<string, OrgObject>;
}

/** What an import would do, or everything that forbids it; one bad entry forbids all of it. */
export interface Planned {
  readonly changes: readonly MappingChange[];
  /** Entries whose mapping is already as they want it. */
  readonly skipped: number;
  readonly problems: readonly FailureDetail[];
  /** Objects or tables that other mappings of the workspace hold. */
  readonly conflicts: readonly FailureDetail[];
  /** What will be refused later. */
  readonly warnings: readonly FailureDetail[];
}

/** Whether the org must be asked about an entry: only new names can be wrong. */
export function needsDescribe(entry: Entry, existing: readonly Mapping[]): boolean {
  const mapping = mappingOf(entry, existing);
  if (!mapping) return true;
  const known = new Set(mapping.fields);
  const isNewUpsertField = entry.upsertField !== null && entry.upsertField !== mapping.upsertField;
  const { filter } = entry.settings;
  const isNewFilter = typeof filter === "string" && filter !== mapping.filter;
  return isNewUpsertField || isNewFilter || (entry.fields ?? []).some((field) => !known.has(field));
}

/** Decides an import: matched by object, absent mappings stay, nothing is deleted. */
export function planImport(given: Given): Planned {
  const judged = given.entries.map((entry) => judge(entry, given));
  return {
    changes: judged.flatMap(({ change }) => (change ? [change] : [])),
    skipped: judged.filter(({ change, problems }) => !change && problems.length === 0).length,
    problems: judged.flatMap(({ problems }) => problems),
    warnings: judged.flatMap(({ change, entry }) => (change ? warningsOn(entry, change.after, given.described) : [])),
    conflicts: tableConflicts(
      judged.flatMap(({ change, entry }) => (change ? [{ change, entry }] : [])),
      given.existing,
    ),
  };
}

interface Judged {
  readonly entry: Entry;
  readonly change: MappingChange | null;
  readonly problems: readonly FailureDetail[];
}

function judge(entry: Entry, { workspaceId, at, existing, described }: Given): Judged {
  const mapping = mappingOf(entry, existing);
  const own = ownProblems(entry, mapping);
  // What is known and unchanged is not judged again because another entry asked about the object.
  const isAsked = needsDescribe(entry, existing);
  const object = isAsked ? (described.get(entry.objectName.toLowerCase()) ?? null) : null;
  const { names, problems } = spellNames(entry, mapping, object, described);
  const all = [...own, ...problems, ...filterProblems(entry, object)];
  if (all.length > 0) return { entry, change: null, problems: all };
  if (!mapping) {
    const after = newMapping(entry, names, { id: newId("map"), workspaceId, at });
    return { entry, change: { before: null, after }, problems: [] };
  }
  const after = changedMapping(mapping, entry, names, at);
  return { entry, change: after === mapping ? null : { before: mapping, after }, problems: [] };
}

function warningsOn({ path }: Entry, mapping: Mapping, described: Given["described"]): readonly FailureDetail[] {
  const object = described.get(mapping.sfObject.toLowerCase());
  if (!object) return [];
  const lacking = lackingFields(mapping, object);
  const { message, remedy } = reportLacking(lacking, mapping.sfObject);
  const proposed = proposedUpsertField(mapping, object);
  return [
    ...(lacking.length === 0 ? [] : [{ path: `${path}.config.fields`, message: `${message}; ${remedy}` }]),
    ...(proposed === null
      ? []
      : [
          {
            path: `${path}.config.upsert_field`,
            message: `is not there, so a new record whose answer is lost may be doubled; its one unique external id fits: "upsert_field": "${proposed}"`,
          },
        ]),
  ];
}

/** The one external id with a unique index of a mapping that sends rows and names none. */
function proposedUpsertField(mapping: Mapping, { fields }: OrgObject): string | null {
  if (!pushes(mapping.syncDirection) || mapping.upsertField !== null) return null;
  const indexes = askedIndexes(mapping);
  const [first, second] = fields.filter(({ name, externalId }) => externalId && indexes.get(name.toLowerCase()));
  return first && !second ? first.name : null;
}

function ownProblems(entry: Entry, mapping: Mapping | null): readonly FailureDetail[] {
  const problem = (key: string, message: string) => ({ path: `${entry.path}.config.${key}`, message });
  return [
    ...(contradictsItself(entry) ? [problem("access", "says something else than bridge.sync_direction")] : []),
    ...(!mapping && entry.fields === null
      ? [problem("fields", "is needed for a mapping that does not exist yet")]
      : []),
    ...(mapping && (entry.settings.pgTable ?? mapping.pgTable) !== mapping.pgTable
      ? [
          problem(
            "bridge.pg_table",
            `cannot change: this mapping's table is ${mapping.pgTable}; delete the mapping first`,
          ),
        ]
      : []),
  ];
}

/** A filter that is not understood, or, where the org was asked, that it would refuse; for settings and imports alike. */
function filterProblems({ path, settings: { filter } }: Entry, object: OrgObject | null): readonly FailureDetail[] {
  if (typeof filter !== "string") return [];
  try {
    const understood = parseFilter(filter);
    if (object) renderFilter(understood, new Map(object.fields.map((field) => [field.name.toLowerCase(), field])));
    return [];
  } catch (error) {
    if (error instanceof Failure) return [{ path: `${path}.config.bridge.filter`, message: error.message }];
    throw error;
  }
}

/** The mapping that an entry speaks of; null: there is none yet. */
export function mappingOf({ objectName }: Entry, existing: readonly Mapping[]): Mapping | null {
  const wanted = objectName.toLowerCase();
  return existing.find(({ sfObject }) => sfObject.toLowerCase() === wanted) ?? null;
}

/** New mappings whose table another mapping of the workspace has. */
function tableConflicts(
  planned: readonly { readonly change: MappingChange; readonly entry: Entry }[],
  existing: readonly Mapping[],
): readonly FailureDetail[] {
  const holders = new Map(existing.map(({ pgTable, sfObject }) => [pgTable.toLowerCase(), sfObject]));
  return planned.flatMap(({ change, entry }) => {
    const holder = change.before === null ? holders.get(change.after.pgTable.toLowerCase()) : undefined;
    return holder === undefined
      ? []
      : [{ path: `${entry.path}.config.bridge.pg_table`, message: `is the table of the mapping of ${holder}` }];
  });
}
