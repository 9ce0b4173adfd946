import { Failure } from "../model/failure.ts";
import type { Mapping } from "../model/mapping/mapping.ts";
import { changedSettings } from "./changed-mapping.ts";
import type { Baseline, Baselines, Mappings } from "./ports.ts";

type ChangeType = "mapping_added" | "mapping_removed" | "field_added" | "field_removed" | "setting_changed";

/** One difference of the live configuration from the baseline (spec 2.10). */
interface DriftChange {
  readonly mapping_id: string;
  readonly sf_object: string;
  readonly type: ChangeType;
  /** The field or the setting; empty where a whole mapping came or went. */
  readonly field: string;
}

interface DriftReport {
  readonly baseline_id: string;
  readonly captured_at: string;
  readonly drifted: boolean;
  readonly changes: readonly DriftChange[];
}

interface Needs {
  readonly mappings: Mappings;
  readonly baselines: Baselines;
}

/** Compares the live configuration with the most recent baseline (spec 4.1.9). */
export async function readDrift({ mappings, baselines }: Needs, workspaceId: string): Promise<DriftReport> {
  const [live, baseline] = await Promise.all([mappings.list(workspaceId), baselines.latest(workspaceId)]);
  if (baseline === null) {
    throw new Failure("BASELINE_NOT_FOUND", "no baseline was saved yet: POST config/baseline saves one");
  }
  return driftReport(baseline, live.mappings);
}

/** The differences, by object, then kind, then field. */
function driftReport({ id, capturedAt, mappings: pinned }: Baseline, live: readonly Mapping[]): DriftReport {
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

function differences(was: Mapping, is: Mapping): readonly DriftChange[] {
  const [before, after] = [new Set(was.fields), new Set(is.fields)];
  return [
    ...is.fields.filter((field) => !before.has(field)).map((field) => change(is, "field_added", field)),
    ...was.fields.filter((field) => !after.has(field)).map((field) => change(is, "field_removed", field)),
    ...changedSettings(was, is)
      .filter((name) => name !== "fields")
      .map((name) => change(is, "setting_changed", name)),
  ];
}

function change({ id, sfObject }: Mapping, type: ChangeType, field = ""): DriftChange {
  return { mapping_id: id, sf_object: sfObject, type, field };
}

function inOrder(one: DriftChange, other: DriftChange): number {
  const [a, b] = [one, other].map(({ sf_object, type, field }) => JSON.stringify([sf_object, type, field])) as [
    string,
    string,
  ];
  return a < b ? -1 : a > b ? 1 : 0;
}
