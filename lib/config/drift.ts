import { Failure } from "../model/failure.ts";
import type { Mapping } from "../model/mapping/mapping.ts";
import { changedSettings } from "./changed-mapping.ts";
import type { Baseline, Baselines, Mappings } from "./ports.ts";

type ChangeType = "mapping_added" | "mapping_removed" | "field_added" | "field_removed" | "setting_changed";

interface Needs {
  readonly mappings: Mappings;
  readonly baselines: Baselines;
}

/** Compares the live configuration with the most recent baseline (the contract's `driftReport`). */
export async function readDrift({ mappings, baselines }: Needs, workspaceId: string) {
  const [live, baseline] = await Promise.all([mappings.list(workspaceId), baselines.latest(workspaceId)]);
  if (baseline === null) {
    throw new Failure("BASELINE_NOT_FOUND", "no baseline was saved yet: POST config/baseline saves one");
  }
  return driftReport(baseline, live.mappings);
}

/** The differences, by object, then kind, then field. */
function driftReport({ id, capturedAt, mappings: pinned }: Baseline, live: readonly Mapping[]) {
  const before = new Map(pinned.map((mapping) => [mapping.id, mapping]));
  const now = new Map(live.map((mapping) => [mapping.id, mapping]));
  const changes = [
    ...live.flatMap((mapping) => {
      const was = before.get(mapping.id);
      return was ? differences(was, mapping) : [change(mapping, "mapping_added")];
    }),
    ...pinned.filter((mapping) => !now.has(mapping.id)).map((mapping) => change(mapping, "mapping_removed")),
  ];
  return {
    baseline_id: id,
    captured_at: capturedAt.toISOString(),
    drifted: changes.length > 0,
    changes: changes.toSorted(inOrder),
  };
}

function differences(was: Mapping, is: Mapping) {
  const [before, after] = [new Set(was.fields), new Set(is.fields)];
  return [
    ...is.fields.filter((field) => !before.has(field)).map((field) => change(is, "field_added", field)),
    ...was.fields.filter((field) => !after.has(field)).map((field) => change(is, "field_removed", field)),
    ...changedSettings(was, is)
      .filter((name) => name !== "fields")
      .map((name) => change(is, "setting_changed", name)),
  ];
}

/** `field` names the field or the setting; empty where a whole mapping came or went. */
function change({ id, sfObject }: Mapping, type: ChangeType, field = "") {
  return { mapping_id: id, sf_object: sfObject, type, field };
}

function inOrder(one: ReturnType<typeof change>, other: ReturnType<typeof change>): number {
  const [a, b] = [one, other].map(({ sf_object, type, field }) => JSON.stringify([sf_object, type, field])) as [
    string,
    string,
  ];
  return a < b ? -1 : a > b ? 1 : 0;
}
