import { BATCH_SIZE } from "../model/change/ways.ts";
import { AUTO } from "../model/mapping/delete-breaker.ts";
import { failureOfProvisioning, type Mapping, pushes, type SyncDirection } from "../model/mapping/mapping.ts";
import type { Entry } from "./document.ts";
import { inWords } from "./mapping-rules.ts";
import { nextVersion } from "./version.ts";

/** A mapping's defaults. */
const DEFAULTS = {
  syncDirection: "bidirectional",
  active: true,
  pollingSeconds: 10,
  whenQuietSeconds: null,
  notifyEnabled: false,
  conflictPolicy: "salesforce_wins",
  capture: "origin",
  deleteLimit: AUTO,
  sweepDays: 1,
  keepHistory: true,
  checkBeforeSave: "auto",
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
    pgTable: names.sfObject.toLowerCase(),
    ...DEFAULTS,
    ...said(entry),
    ...names,
    syncDirection: directionOf(entry, DEFAULTS.syncDirection),
    foreign: entry.foreign,
    configVersion: 1,
    provisioning: { state: "pending" },
    createdAt: made.at,
    updatedAt: made.at,
    deletedAt: null,
  };
}

/**
 * An existing mapping as an entry wants it, or itself when the entry changes nothing and its table could be created:
 * else that is tried again. What the entry leaves out stays, but for the upsert field: an export leaves it out when
 * none is set.
 */
export function changedMapping(mapping: Mapping, entry: Entry, names: Names, at: Date): Mapping {
  const wanted: Mapping = {
    ...mapping,
    ...said(entry),
    ...names,
    sfObject: mapping.sfObject,
    syncDirection: directionOf(entry, mapping.syncDirection),
    foreign: { ...mapping.foreign, ...entry.foreign },
  };
  const isDone = changedSettings(mapping, wanted).length === 0 && failureOfProvisioning(mapping.provisioning) === null;
  return isDone ? mapping : nextVersion(wanted, at);
}

/** The settings that an entry says. */
function said({ settings }: Entry): Partial<Mapping> {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
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
  const shown = (json = "null") => (json === "null" ? null : json.replace(/^"(.*)"$/, () => JSON.parse(json)));
  return changedSettings(before, after)
    .filter((name) => name !== "fields")
    .map((name) => ({ name, before: shown(was.get(name)), after: shown(is.get(name)) }));
}

function comparable(mapping: Mapping): ReadonlyMap<string, string> {
  const all = { ...inWords(mapping), fields: mapping.fields, foreign: sortedKeys(mapping.foreign) };
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
function directionOf({ settings: { syncDirection }, access }: Entry, current: SyncDirection): SyncDirection {
  if (syncDirection !== undefined) return syncDirection;
  if (access === null || access === accessOf(current)) return current;
  return access === "read_only" ? "sf_to_pg" : "bidirectional";
}

/** Whether `access` and `sync_direction` of an entry say two different things. */
export function contradictsItself({ settings: { syncDirection }, access }: Entry): boolean {
  return syncDirection !== undefined && access !== null && accessOf(syncDirection) !== access;
}
