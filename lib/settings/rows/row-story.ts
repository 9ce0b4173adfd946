import * as z from "zod/mini";
import type { Pauses } from "../../access/ports.ts";
import type { EngineReports, WorkspaceReport } from "../../health/ports.ts";
import { isSparing, reportBudget } from "../../model/calls/budget.ts";
import { STATES } from "../../model/change/change.ts";
import { ruleOf } from "../../model/change/field-rule.ts";
import { unwritableFields } from "../../model/change/outgoing-fields.ts";
import { isUndecided } from "../../model/change/rewound.ts";
import { type Mapping, pushes } from "../../model/mapping/mapping.ts";
import { isSameValue } from "../../model/record/same-value.ts";
import { waitsFor } from "../../model/workspace/incident.ts";
import { type Pause, reportPause } from "../../model/workspace/pause.ts";
import type { RowQueriesOf, RowStory } from "../row-ports.ts";
import { nullableTimestamp, timestamp } from "../shapes.ts";
import { findStory, type NamedRow } from "./find-row.ts";
import { presenceOf, type RecordOf, readRecord, restoreView, viewRestore } from "./restore-row.ts";

const value = z.nullable(z.string());

/** One thing that happened to a row. */
const happening = z.object({
  at: timestamp(),
  from: z.enum(["postgres", "salesforce", "bridge"]),
  kind: z.enum(["change", "attempt", "conflict", "pulled", "deleted", "inbound_error"]),
  text: z.string(),
  by: value,
  state: z.nullable(z.enum(STATES)),
  change_id: z.nullable(z.int()),
  fields: z.array(z.object({ column: z.string(), before: value, after: value })),
});
type Happening = z.infer<typeof happening>;

/** The story of a row, newest first. */
export const rowStoryView = z.object({
  mapping_id: z.string(),
  sf_object: z.string(),
  table_name: z.string(),
  record_id: z.nullable(z.int()),
  sfid: value,
  salesforce_url: value,
  row: z.enum(["present", "absent"]),
  record: z.enum(["present", "absent", "deleted", "unknown"]),
  salesforce_error: value,
  last_modified_by: value,
  last_modified_at: nullableTimestamp(),
  values: z.array(
    z.object({
      field: z.string(),
      column: z.string(),
      postgres: value,
      salesforce: value,
      equal: z.nullable(z.boolean()),
    }),
  ),
  remedy: value,
  refused: z.nullable(
    z.object({
      change_id: z.int(),
      message: value,
      columns: z.array(z.object({ column: z.string(), field: z.string(), rule: z.string() })),
    }),
  ),
  restore: z.nullable(restoreView),
  /** Why its change waits, or its mapping moves nothing, and when that ends; null: neither. */
  waits: value,
  events: z.array(happening),
});

interface Needs {
  readonly rowQueries: RowQueriesOf;
  readonly recordOf: RecordOf;
  readonly engine: EngineReports;
  readonly pauses: Pauses;
  readonly now: () => Date;
}

/** What happened to a row, and what both sides hold now. Of an org that cannot be asked only its side is missing. */
export async function readRowStory(
  needs: Needs,
  { workspace, mappings, key }: NamedRow,
): Promise<z.infer<typeof rowStoryView>> {
  const { mapping, story } = await findStory(needs, { workspace, mappings, key });
  const [engine, pause, read, { salesforce }] = await Promise.all([
    needs.engine.read(workspace.id),
    needs.pauses.find(workspace.id),
    readRecord(needs.recordOf, workspace, story),
    workspace.open(),
  ]);
  const record = read.record;
  const { image: theirs, changedBy: lastBy } = read;
  const pulled = story.pulled.map(({ at, fields }) =>
    step(at, "salesforce", "pulled", `Salesforce changed ${Object.keys(fields).join(", ")}`, {
      // The present record names its last writer alone.
      by: theirs?.systemModstamp.getTime() === at.getTime() ? lastBy : null,
      fields: Object.entries(fields).map(([column, [before, after]]) => ({ column, before, after })),
    }),
  );
  return {
    mapping_id: mapping.id,
    sf_object: mapping.sfObject,
    table_name: mapping.pgTable,
    record_id: story.recordId,
    sfid: story.sfid,
    salesforce_url:
      salesforce && story.sfid ? `${salesforce.instanceUrl}/lightning/r/${mapping.sfObject}/${story.sfid}/view` : null,
    row: story.row ? "present" : "absent",
    record: presenceOf(read),
    salesforce_error: read.error,
    last_modified_by: lastBy,
    last_modified_at: record?.["LastModifiedDate"] ? new Date(String(record["LastModifiedDate"])).toISOString() : null,
    values: story.shape.columns.map((column) => {
      const [postgres, other] = [story.row?.[column.column] ?? null, theirs?.values[column.column] ?? null];
      const equal = story.row && theirs ? isSameValue(column, postgres, other) : null;
      return { field: column.field, column: column.column, postgres, salesforce: other, equal };
    }),
    remedy: remedyFor(story),
    refused: refusedIn(story),
    restore: viewRestore(story, read),
    waits: whyWaits({ mapping, story, engine, pause, now: needs.now() }),
    events: inOrder(
      [...story.changes.flatMap((change) => reportChange(change, story)), ...reportRest(story), ...pulled],
      story,
    ),
  };
}

interface Waiting {
  readonly mapping: Mapping;
  readonly story: RowStory;
  readonly engine: WorkspaceReport;
  readonly pause: Pause | null;
  readonly now: Date;
}

/** The reason that holds the row's oldest change back: the workspace's before the mapping's, and that before its own. */
function whyWaits({ mapping, story, engine, pause, now }: Waiting): string | null {
  const { active, sfObject, syncDirection } = mapping;
  const change = story.changes.findLast(({ state }) => state === "NEW" || state === "PENDING");
  const report = engine.mappings.find(({ mappingId }) => mappingId === mapping.id);
  const failure = active ? (report?.failure ?? null) : null;
  const since = `since ${(change?.createdAt ?? report?.failingSince ?? now).toISOString().slice(0, 16)}Z`;
  if (!change) return failure && !pause ? `Nothing of it moves ${since}: ${waitsFor(failure, sfObject)}` : null;
  const { budget, usage } = engine;
  const spares = isSparing(budget, mapping, false) && usage && budget.plan && { ...budget, usage, plan: budget.plan };
  const ofMapping = pause
    ? `${reportPause(pause)}.`
    : !active
      ? `the mapping of ${sfObject} is not active. Sent once it is: bridge mapping activate ${sfObject}`
      : !pushes(syncDirection)
        ? `the mapping of ${sfObject} sends nothing.`
        : failure
          ? waitsFor(failure, sfObject)
          : spares
            ? `${reportBudget(spares)}.`
            : null;
  return `Waits ${since}: ${ofMapping ?? whyChangeWaits(change, now)}`;
}

function whyChangeWaits({ action, held, message, state, dueAt }: RowStory["changes"][number], now: Date): string {
  if (held)
    return `${message ?? `the ${action === "DELETE" ? "delete" : "change"} is on hold`}. Sent once a person decides.`;
  if (isUndecided(message)) return "a person decides since a restore: bridge restore plan";
  if (dueAt !== null && dueAt > now)
    return `${message ?? "Salesforce asked for a pause"}. Sent again at ${dueAt.toISOString().slice(0, 19)}Z.`;
  if (state === "PENDING") return `${message ?? "a cycle is sending it"}.`;
  return `${message ?? "for the next cycle, within ten seconds"}.`;
}

/** Newest first. The database's clock may be ahead of ours: nothing comes before the change that it is about. */
function inOrder(events: readonly Happening[], { changes }: RowStory): Happening[] {
  const captured = new Map(changes.map(({ id, createdAt }) => [id, createdAt.getTime()]));
  const timeOf = ({ at, change_id }: Happening) => Math.max(Date.parse(at), captured.get(change_id ?? 0) ?? 0);
  return events.toSorted((one, other) => timeOf(other) - timeOf(one));
}

const step = (
  at: Date,
  from: Happening["from"],
  kind: Happening["kind"],
  text: string,
  more: Partial<Happening> = {},
): Happening => ({
  ...{ at: at.toISOString(), from, kind, text, by: null, state: null, change_id: null, fields: [] },
  ...more,
});

const DID = { INSERT: "inserted", UPDATE: "updated", DELETE: "deleted" } as const;

/** A change, each attempt that was refused, and its result: later in time, so later in the list. */
function reportChange(change: RowStory["changes"][number], story: RowStory): Happening[] {
  const { id, action, state, old, values, captured, actor, createdAt, syncedAt, message, attemptsRefused } = change;
  const of = { change_id: id };
  const columns = Object.keys(values ?? old ?? {});
  const fields = columns.map((column) => ({ column, before: asText(old?.[column]), after: asText(values?.[column]) }));
  const changed = fields.filter(({ before, after }) => before !== after);
  const names = action === "UPDATE" && changed.length > 0 ? ` ${changed.map(({ column }) => column).join(", ")}` : "";
  const waits = change.held
    ? `, on hold${message === null ? "" : `: ${message}`}`
    : state === "NEW" || state === "PENDING"
      ? `, ${message ?? "waiting to be sent"}`
      : "";
  const by = captured === "trigger" ? actor : null;
  const refused = attemptsRefused.map((attempt) =>
    step(attempt.at, "salesforce", "attempt", `Salesforce refused it: ${attempt.message}`, { ...of, state: "FAILED" }),
  );
  const isKept = attemptsRefused.at(-1)?.at.getTime() === syncedAt?.getTime();
  return [
    ...(syncedAt && !(state === "FAILED" && isKept)
      ? [step(syncedAt, "salesforce", "attempt", outcomeOf(change, story), { ...of, state })]
      : []),
    ...refused.toReversed(),
    step(createdAt, "postgres", "change", `the row was ${DID[action]}${names}${waits}`, {
      ...of,
      by,
      state,
      fields: changed,
    }),
  ];
}

/** The result of a change, by what won where both sides had changed a field. */
function outcomeOf(change: RowStory["changes"][number], { conflicts, shape }: RowStory): string {
  const { action, state, message, values, createdAt, syncedAt } = change;
  const isLost = message?.startsWith("CONFLICT") === true;
  const lost = conflicts
    .filter(({ winner, at }) => winner === "salesforce" && at >= createdAt && (syncedAt === null || at <= syncedAt))
    .filter(({ field }) => field !== null && field in (values ?? {}) === isLost);
  if (lost.length > 0) {
    return `${isLost ? "it was not sent" : "Salesforce took the rest, without"}: ${lost.map(whoWon).join("; ")}`;
  }
  if (state === "FAILED") return `it was refused: ${message ?? "without a reason"}`;
  const left = action === "UPDATE" ? unwritableFields(shape, values ?? {}) : [];
  return message ?? `Salesforce took it${left.length > 0 ? `, without ${left.join(", ")}: not writable` : ""}`;
}

/** `phone: you wrote "1", Salesforce's "2" won`. */
function whoWon({ field, postgres, salesforce, winner }: RowStory["conflicts"][number]): string {
  const won =
    winner === "salesforce"
      ? `Salesforce's ${quoted(salesforce)} won`
      : `and it won over Salesforce's ${quoted(salesforce)}`;
  return `${field}: you wrote ${quoted(postgres)}, ${won}`;
}

function reportRest({ conflicts, deletions, inbound }: RowStory): Happening[] {
  return [
    ...conflicts.map((conflict) => {
      const { at, field, base, postgres, salesforce, winner } = conflict;
      const side = winner === "salesforce" ? "Salesforce's" : "the row's";
      if (field === null)
        return step(at, "bridge", "conflict", `both sides changed the whole record, and ${side} side won`);
      const fields = [{ column: field, before: base, after: winner === "salesforce" ? salesforce : postgres }];
      return step(at, "bridge", "conflict", whoWon(conflict), { fields });
    }),
    ...deletions.map(({ at, bySalesforce, reason }) =>
      step(
        at,
        bySalesforce ? "salesforce" : "postgres",
        "deleted",
        bySalesforce ? `the row was deleted: ${reason}` : `the record was deleted: ${reason}`,
      ),
    ),
    ...(inbound
      ? [step(inbound.lastAt, "salesforce", "inbound_error", `the record could not become a row: ${inbound.error}`)]
      : []),
  ];
}

const quoted = (text: string | null): string => (text === null ? "nothing" : `"${text}"`);

const asText = (of: unknown): string | null =>
  of === null || of === undefined ? null : typeof of === "string" ? of : JSON.stringify(of);

type Refused = z.infer<typeof rowStoryView>["refused"];

/** The last refusal that a correction of the row would end, by the fields that Salesforce named, or those of the change. */
function refusedIn({ changes, shape, row }: RowStory): Refused {
  const failed = changes.find(({ state, superseded }) => state === "FAILED" && !superseded);
  if (!failed || failed.action === "DELETE" || row === null || !pushes(shape.direction)) return null;
  const named = [...(failed.message ?? "").matchAll(/\[([A-Za-z0-9_, ]+)\]/g)].flatMap(([, list]) =>
    (list ?? "").toLowerCase().split(", "),
  );
  const known = shape.columns.filter(
    ({ column, field }) => named.includes(column) || named.includes(field.toLowerCase()),
  );
  const meant = known.length > 0 ? known : shape.columns.filter(({ column }) => column in (failed.values ?? {}));
  const columns = meant.map((column) => ({ column: column.column, field: column.field, rule: ruleOf(column) }));
  return { change_id: failed.id, message: failed.message, columns };
}

/** The command that ends what a person has to decide. */
function remedyFor({ changes, shape }: RowStory): string | null {
  if (changes.some(({ action, held }) => held && action !== "DELETE"))
    return `bridge mapping push-existing ${shape.sfObject}`;
  const isUnsure = changes.some(({ state, message }) => state === "PENDING" && isUndecided(message));
  return isUnsure ? `bridge restore accept ${shape.sfObject}` : null;
}
