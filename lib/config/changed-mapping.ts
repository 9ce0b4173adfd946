import { AUTO } from "../model/change/delete-breaker.ts";
import { BATCH_SIZE } from "../model/change/ways.ts";
import { failureOfProvisioning, type Mapping, pushes, type SyncDirection } from "../model/mapping/mapping.ts";
import type { Entry } from "./document.ts";
import { nextVersion } from "./version.ts";

/** What a mapping is when nobody says otherwise. */
const DEFAULTS = {
  syncDirection: "bidirectional",
  active: true,
  pollingSeconds: 10,
  notifyEnabled: false,
  conflictPolicy: "salesforce_wins",
  capture: "origin",
  deleteLimit: AUTO,
  sweepDays: 1,
  batchSize: BATCH_SIZE,
  filter: null,
} as const;

interface Names {
  readonly sfObject: string;
  readonly fields: readonly string[];
  readonly upsertField: string | null;
}

/** A new mapping as an entry wants it; `names` are in the org's spelling. */
export function newMapping(
  entry: Entry,
  names: Names,
  made: { readonly id: string; readonly workspaceId: string; readonly at: Date },
): Mapping {
  return {
    id: made.id,
    workspaceId: made.workspaceId,
    ...names,
    pgTable: entry.pgTable ?? names.sfObject.toLowerCase(),
    syncDirection: directionOf(entry, DEFAULTS.syncDirection),
    active: entry.active ?? DEFAULTS.active,
    pollingSeconds: entry.pollingSeconds ?? DEFAULTS.pollingSeconds,
    notifyEnabled: entry.notifyEnabled ?? DEFAULTS.notifyEnabled,
    conflictPolicy: entry.conflictPolicy ?? DEFAULTS.conflictPolicy,
    capture: entry.capture ?? DEFAULTS.capture,
    deleteLimit: entry.deleteLimit ?? DEFAULTS.deleteLimit,
    sweepDays: entry.sweepDays ?? DEFAULTS.sweepDays,
    batchSize: entry.batchSize ?? DEFAULTS.batchSize,
    filter: entry.filter ?? DEFAULTS.filter,
    foreign: entry.foreign,
    configVersion: 1,
    provisioning: { state: "pending" },
    createdAt: made.at,
    updatedAt: made.at,
    deletedAt: null,
  };
}

/**
 * An existing mapping as an entry wants it, or itself when the entry wants nothing else and its table could be made: else
 * that is tried again. What the entry does not say stays, but for the upsert field: an export leaves it out when none is
 * set.
 */
export function changedMapping(mapping: Mapping, entry: Entry, names: Names, at: Date): Mapping {
  const wanted: Mapping = {
    ...mapping,
    ...names,
    sfObject: mapping.sfObject,
    syncDirection: directionOf(entry, mapping.syncDirection),
    active: entry.active ?? mapping.active,
    pollingSeconds: entry.pollingSeconds ?? mapping.pollingSeconds,
    notifyEnabled: entry.notifyEnabled ?? mapping.notifyEnabled,
    conflictPolicy: entry.conflictPolicy ?? mapping.conflictPolicy,
    capture: entry.capture ?? mapping.capture,
    deleteLimit: entry.deleteLimit ?? mapping.deleteLimit,
    sweepDays: entry.sweepDays ?? mapping.sweepDays,
    batchSize: entry.batchSize ?? mapping.batchSize,
    filter: entry.filter === undefined ? mapping.filter : entry.filter,
    foreign: { ...mapping.foreign, ...entry.foreign },
  };
  const isDone = changedSettings(mapping, wanted).length === 0 && failureOfProvisioning(mapping.provisioning) === null;
  return isDone ? mapping : nextVersion(wanted, at);
}

/** The settings that an export tells and a drift report compares, by the words of the config document. */
function settingsOf(mapping: Mapping): Readonly<Record<string, unknown>> {
  return {
    pg_table: mapping.pgTable,
    sync_direction: mapping.syncDirection,
    active: mapping.active,
    upsert_field: mapping.upsertField,
    sf_polling_seconds: mapping.pollingSeconds,
    sf_notify_enabled: mapping.notifyEnabled,
    conflict_policy: mapping.conflictPolicy,
    capture: mapping.capture,
    delete_limit: mapping.deleteLimit,
    sweep_days: mapping.sweepDays,
    batch_size: mapping.batchSize,
    filter: mapping.filter,
  };
}

/** The names of what differs: settings, `fields`, or what is kept for other products. */
export function changedSettings(before: Mapping, after: Mapping): readonly string[] {
  const was = comparable(before);
  const is = comparable(after);
  return [...is.keys()].filter((name) => is.get(name) !== was.get(name));
}

/** A setting as it was and as it is, in words; what is kept for other products is JSON. */
export interface SettingChange {
  readonly name: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** What `changedSettings` names beside the fields, with its values. */
export function settingChanges(before: Mapping, after: Mapping): readonly SettingChange[] {
  const [was, is] = [comparable(before), comparable(after)];
  const inWords = (json = "null") => (json === "null" ? null : json.replace(/^"(.*)"$/, () => JSON.parse(json)));
  return changedSettings(before, after)
    .filter((name) => name !== "fields")
    .map((name) => ({ name, before: inWords(was.get(name)), after: inWords(is.get(name)) }));
}

function comparable(mapping: Mapping): ReadonlyMap<string, string> {
  const all = { ...settingsOf(mapping), fields: mapping.fields, foreign: sortedKeys(mapping.foreign) };
  return new Map(Object.entries(all).map(([name, value]) => [name, JSON.stringify(value)]));
}

/** The same value with the keys of every object in order, so that equal ones have equal text. */
export function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sortedKeys(inner)]));
}

/** Heroku Connect's `access` of a direction. */
export const accessOf = (direction: SyncDirection): "read_only" | "read_write" =>
  pushes(direction) ? "read_write" : "read_only";

/** A direction that is said wins; `access` alone changes only what it contradicts. */
function directionOf({ syncDirection, access }: Entry, current: SyncDirection): SyncDirection {
  if (syncDirection !== null) return syncDirection;
  if (access === null || access === accessOf(current)) return current;
  return access === "read_only" ? "sf_to_pg" : "bidirectional";
}

/** Whether `access` and `sync_direction` of an entry say two different things. */
export function contradictsItself({ syncDirection, access }: Entry): boolean {
  return syncDirection !== null && access !== null && accessOf(syncDirection) !== access;
}
