import { changedColumns } from "../../model/change/changed-columns.ts";
import type { Mapping } from "../../model/mapping/mapping.ts";
import type { Column, TableShape } from "../../model/mapping/shape.ts";
import type { Clock, Connections, Log } from "../ports/cycle-ports.ts";
import { bookCalls } from "./book-calls.ts";
import { describeShape } from "./describe-shape.ts";

export interface FollowNeeds {
  readonly connections: Connections;
  readonly provisioner: (workspaceId: string) => Promise<{ readonly schema: string }>;
  /** Makes the next version of a mapping that is still at this one, its settings as they are. */
  readonly renew: (mapping: Mapping) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Checks whether Salesforce describes a mapping's fields otherwise than when its table was created; then the mapping
 * gets a new version, which ends the running cycle and has the table follow. A removed field is reported with its
 * mapping. What cannot be asked today is asked tomorrow.
 */
export async function followSchemaChanges(needs: FollowNeeds, mapping: Mapping): Promise<void> {
  const { provisioning, configVersion } = mapping;
  if (!mapping.active || provisioning.state !== "ready" || provisioning.version !== configVersion) return;
  const report = (level: "info" | "warn", more: Readonly<Record<string, unknown>>) =>
    needs.log({
      level,
      event: "object_described",
      workspace_id: mapping.workspaceId,
      mapping_id: mapping.id,
      sf_object: mapping.sfObject,
      pg_table: mapping.pgTable,
      ...more,
    });
  try {
    const described = await describe(needs, mapping);
    if (described === null) return;
    const { before, now } = described;
    const changed = [
      ...changedColumns(before.columns, now.columns),
      ...(before.repeatsUpsertValues === now.repeatsUpsertValues ? [] : [String(now.upsertField)]),
      ...(before.namesWriter === now.namesWriter ? [] : ["LastModifiedById"]),
    ];
    if (now.repeatsUpsertValues) report("warn", { message: reportRepeats(now.upsertField) });
    if (changed.length === 0) return reportNarrow(report, before.columns);
    report("info", { changed: [...new Set(changed)] });
    await needs.renew(mapping);
  } catch (error) {
    report("warn", { error: String(error) });
  }
}

const reportRepeats = (upsertField: string | null) =>
  `Salesforce does not keep the upsert field ${upsertField} unique: records that share a value get rows of their own, and a row that could be either's fails; make the field unique in Salesforce's Setup, or choose another upsert_field`;

/** Reported each day: what no longer fits into these columns is kept back, record by record. */
function reportNarrow(
  report: (level: "warn", more: Readonly<Record<string, unknown>>) => void,
  columns: readonly Column[],
) {
  const narrow = columns.filter(({ outgrown }) => outgrown !== undefined).map(({ column }) => column);
  if (narrow.length === 0) return;
  const remedy =
    "run the migration that bridge schema propose prints, or drop what depends on these columns, then deactivate the mapping and activate it again";
  report("warn", { columns: narrow, message: `narrower than their fields; ${remedy}` });
}

/** The table as it was created, and as Salesforce would have it now; null: the mapping is being worked on. */
async function describe(
  needs: FollowNeeds,
  mapping: Mapping,
): Promise<{ readonly before: TableShape; readonly now: TableShape } | null> {
  const { workspaceId, id: mappingId, configVersion } = mapping;
  const { schema } = await needs.provisioner(workspaceId);
  const { salesforce } = await needs.connections.connectOrg(workspaceId, new AbortController().signal);
  const now = await describeShape(salesforce, mapping, schema);
  const before = await bookCalls(needs, { workspaceId, mappingId, configVersion }, salesforce.calls());
  return before === null ? null : { before, now };
}
