import * as z from "zod/mini";
import type { Pauses, SealedWorkspace } from "../access/ports.ts";
import type { Mappings } from "../config/ports.ts";
import type { EngineReport, EngineReports } from "../health/ports.ts";
import { FRESH_BUDGET, isSparing, reportBudget } from "../model/calls/budget.ts";
import { reportCallSize, sizeNow } from "../model/change/call-size.ts";
import { reportMissingParents } from "../model/change/missing-parent.ts";
import { reportRecordless } from "../model/change/no-record.ts";
import { FAILURE_REASONS } from "../model/engine.ts";
import { reportHeld } from "../model/mapping/delete-breaker.ts";
import { type Mapping, pulls } from "../model/mapping/mapping.ts";
import { reportLacking } from "../model/mapping/required-fields.ts";
import { reportUnfit } from "../model/mapping/unfit-column.ts";
import { areEqual, sayEquality } from "../model/record/equality.ts";
import { reportReadSize } from "../model/record/read-size.ts";
import { toCamelCase, toSnakeCase } from "../model/snake-case.ts";
import { type Pause, reportPause } from "../model/workspace/pause.ts";
import { ifAvailable } from "../monitoring/with-database.ts";
import { idleCallsOfEach, rungBy } from "./forecast.ts";
import { configuredState, type MappingState, mappingView, viewMapping } from "./mapping-view.ts";
import { type MappingProgress, READINGS, type RowQueriesOf } from "./row-ports.ts";
import { nullableTimestamp, timestamp } from "./shapes.ts";

const figures = z.object({
  last_run_at: nullableTimestamp(),
  last_pull_at: nullableTimestamp(),
  rows_synced: z.nullable(z.int()),
  waiting: z.nullable(z.int()),
  oldest_waiting_at: nullableTimestamp(),
  failed: z.nullable(z.int()),
  held_deletes: z.nullable(z.int()),
  inbound_errors: z.nullable(z.int()),
});

/** What the last comparison found, every row and record counted; `says` in words. */
const compared = z.object({
  ...{ at: timestamp(), rows: z.int(), records: z.int(), differing: z.int(), vanished: z.int() },
  ...{ missing: z.nullable(z.int()), unsent: z.nullable(z.int()), refused: z.nullable(z.int()) },
  calls: z.nullable(z.int()),
  ...{ equal: z.nullable(z.boolean()), says: z.string() },
});

/** A mapping with its engine state; what its database would say is null when that cannot be asked. */
export const mappingWithState = z.extend(mappingView, {
  failure: z.nullable(z.enum(FAILURE_REASONS)),
  broken_since: nullableTimestamp(),
  ...figures.shape,
  compared: z.nullable(compared),
  notices: z.array(z.object({ message: z.string(), remedy: z.string() })),
});

/** One mapping in full. */
export const mappingDetail = z.extend(mappingWithState, {
  progress: z.nullable(
    z.object({
      reading: z.enum(READINGS),
      rows_done: z.int(),
      rows_total: z.nullable(z.int()),
      ends_at: nullableTimestamp(),
    }),
  ),
  /** Ids of what the last comparison found to differ, the first 1,000. */
  compared_ids: z.array(z.string()),
  sent_deletes: z.nullable(z.int()),
  lag_seconds: z.nullable(z.object({ p50: z.number(), p95: z.number() })),
  api_calls: z.record(z.string(), z.int()),
});

interface Needs {
  readonly mappings: Pick<Mappings, "list" | "listDeleted">;
  readonly engine: EngineReports;
  readonly rowQueries: RowQueriesOf;
  readonly pauses: Pauses;
}

/** All mappings of a workspace with what the engine does with them, or the deleted ones. */
export async function readStates(
  needs: Needs,
  workspace: SealedWorkspace,
  deleted: boolean,
  now: Date,
): Promise<readonly z.infer<typeof mappingWithState>[]> {
  if (deleted)
    return (await needs.mappings.listDeleted(workspace.id)).map((mapping) =>
      withState(mapping, 0, NO_ENGINE, null, now),
    );
  const [{ mappings }, engine, pause, progress] = await Promise.all([
    needs.mappings.list(workspace.id),
    needs.engine.read(workspace.id),
    needs.pauses.find(workspace.id),
    // The list must be there when the database is the trouble.
    ifAvailable(needs.rowQueries, workspace, (queries) => queries.progress()),
  ]);
  const calls = callsOfEach(mappings, engine, now);
  return mappings.map((mapping) => {
    const own = progress === null ? null : progressOf(mapping, progress);
    return heldBy(pause, withState(mapping, calls.get(mapping.id) ?? 0, engine, own, now));
  });
}

/** One mapping with everything that is known about it. */
export async function readDetail(
  needs: Needs,
  workspace: SealedWorkspace,
  mapping: Mapping,
  now: Date,
): Promise<z.infer<typeof mappingDetail>> {
  const [{ mappings }, engine, pause, found] = await Promise.all([
    needs.mappings.list(workspace.id),
    needs.engine.read(workspace.id),
    needs.pauses.find(workspace.id),
    ifAvailable(needs.rowQueries, workspace, async (queries) => {
      const progress = progressOf(mapping, await queries.progress());
      const sentDeletes = progress.heldDeletes > 0 ? await queries.recentDeletes(mapping.id) : null;
      const { differing = 0, vanished = 0 } = progress.compared ?? {};
      const ids = differing + vanished > 0 ? await queries.comparedIds(mapping.id) : [];
      return { progress, sentDeletes, ids, lag: await queries.lag(mapping.id) };
    }),
  ]);
  const calls = callsOfEach(mappings, engine, now).get(mapping.id) ?? 0;
  const view = heldBy(pause, withState(mapping, calls, engine, found?.progress ?? null, now));
  const reading = found?.progress.reading ?? (view.state === "loading" ? "load" : null);
  return {
    ...view,
    progress: found && reading ? { reading, ...howFar(found.progress, now) } : null,
    compared_ids: [...(found?.ids ?? [])],
    sent_deletes: found?.sentDeletes ?? null,
    lag_seconds: found?.lag ?? null,
    api_calls: { ...found?.progress.apiCalls },
  };
}

/** At the average pace since the beginning, pauses between two invocations included. */
function howFar({ recordsRead, recordsToRead, readingSince }: MappingProgress, now: Date) {
  const total = recordsToRead !== null && recordsToRead >= recordsRead ? recordsToRead : null;
  const since = readingSince?.getTime() ?? null;
  const isKnown = total !== null && since !== null && recordsRead > 0;
  const ends_at = isKnown ? new Date(since + (now.getTime() - since) * (total / recordsRead)).toISOString() : null;
  return { rows_done: recordsRead, rows_total: total, ends_at };
}

type Engine = Awaited<ReturnType<EngineReports["read"]>>;

const callsOfEach = (mappings: readonly Mapping[], { budget }: Pick<Engine, "budget">, now: Date) =>
  idleCallsOfEach(mappings, budget.whenQuiet, rungBy(budget, now));

const NO_ENGINE: Engine = { mappings: [], usage: null, budget: FRESH_BUDGET, upgradeRefusal: null };

const reportOn = ({ id }: Mapping, reports: readonly EngineReport[]): EngineReport | null =>
  reports.find(({ mappingId }) => mappingId === id) ?? null;

/** A mapping that the schema does not know yet has done nothing. */
const progressOf = ({ id }: Mapping, all: readonly MappingProgress[]): MappingProgress =>
  all.find(({ mappingId }) => mappingId === id) ?? { ...NOTHING_YET, mappingId: id };

const NOTHING_YET = {
  loaded: false,
  reading: null,
  recordsToRead: null,
  recordsRead: 0,
  readingSince: null,
  readSize: null,
  clockBackUntil: null,
  lastPullAt: null,
  lastRunAt: null,
  rowsSynced: 0,
  apiCalls: {},
  waiting: 0,
  oldestWaitingAt: null,
  failed: 0,
  heldDeletes: 0,
  recordless: 0,
  compared: null,
  upsertFieldUnique: true,
  lacking: [],
  unfit: [],
  inboundErrors: 0,
  waitingForParents: null,
};

const NOT_ASKED = toCamelCase(figures, {});

function withState(
  mapping: Mapping,
  callsPerDay: number,
  { mappings, budget }: Engine,
  progress: MappingProgress | null,
  now: Date,
): z.infer<typeof mappingWithState> {
  const view = viewMapping(mapping, callsPerDay);
  const report = reportOn(mapping, mappings);
  const running = engineState(mapping, report, progress);
  const { usage, plan } = budget;
  const isSpared = running === "running" && isSparing(budget, mapping, pulls(mapping.syncDirection));
  const state = isSpared ? "sparing_calls" : running;
  const waits = isSpared && usage && plan ? reportBudget({ ...budget, usage, plan }) : null;
  const held = progress?.heldDeletes ?? 0;
  const holds = state === "deletes_held" ? reportHeld(held, mapping.sfObject, mapping.deleteLimit) : null;
  const trouble = report?.message ?? waits ?? holds;
  return {
    ...view,
    state,
    reason: view.reason ?? (mapping.active ? trouble : null),
    failure: mapping.active ? (report?.failure ?? null) : null,
    broken_since: report?.brokenSince?.toISOString() ?? null,
    ...toSnakeCase(figures, progress ?? NOT_ASKED),
    compared: progress?.compared ? withWords(progress.compared) : null,
    notices: noticesOn(mapping, report, progress, now),
  };
}

function withWords({ at, ...found }: NonNullable<MappingProgress["compared"]>): z.infer<typeof compared> {
  const { missing = null, unsent = null, refused = null, calls = null } = found;
  const counted = { ...found, missing, unsent, refused, calls };
  return { at: new Date(at).toISOString(), ...counted, equal: areEqual(counted), says: sayEquality(counted) };
}

/** States in which the engine would be at it. */
const MOVING: ReadonlySet<MappingState> = new Set(["loading", "running", "sparing_calls", "deletes_held", "broken"]);

/** The mapping stays active; while the workspace is paused nothing of it moves, whatever else its state is. */
function heldBy(pause: Pause | null, view: z.infer<typeof mappingWithState>): z.infer<typeof mappingWithState> {
  return pause && MOVING.has(view.state) ? { ...view, state: "paused", reason: reportPause(pause) } : view;
}

const reportBacklog = ({ recordsRead, recordsToRead }: MappingProgress, { sfObject }: Mapping) => ({
  message: `more of ${sfObject} has changed than pulls read in time: the Bulk API brings it, ${recordsRead} of ${recordsToRead ?? "many"} records so far`,
  remedy: "wait: what changes now is pulled meanwhile; the mapping's progress says about when it is done",
});

function noticesOn(
  mapping: Mapping,
  report: EngineReport | null,
  progress: MappingProgress | null,
  now: Date,
): z.infer<typeof mappingWithState>["notices"] {
  const { batchSize, pgTable, sfObject } = mapping;
  const recordless = progress?.recordless ?? 0;
  const size = sizeNow(batchSize, report?.callSize ?? null, now);
  return [
    ...(size < batchSize ? [reportCallSize(size, sfObject)] : []),
    ...(progress?.reading === "backlog" ? [reportBacklog(progress, mapping)] : []),
    ...(recordless > 0 ? [reportRecordless(recordless, sfObject)] : []),
    ...(progress?.waitingForParents ? [reportMissingParents(progress.waitingForParents)] : []),
    ...(progress?.readSize?.rows ? [reportReadSize(progress.readSize, sfObject)] : []),
    ...(progress?.clockBackUntil ? [reportClockBack(progress.clockBackUntil)] : []),
    ...(progress?.upsertFieldUnique === false ? [reportShared(mapping)] : []),
    ...(progress?.unfit.map((one) => reportUnfit(pgTable, one)) ?? []),
    ...(progress?.lacking.length ? [reportLacking(progress.lacking, sfObject)] : []),
  ];
}

const reportClockBack = (until: Date) => ({
  message: `Salesforce's clock went back: changes are pulled, those of the time that comes again at each beat, until it is ${until.toISOString()} there`,
  remedy: "nothing to do here; trust.salesforce.com says what happened to the org",
});

const reportShared = ({ upsertField }: Mapping) => ({
  message: `Salesforce does not keep the upsert field ${upsertField} unique: rows and records that share a value do not meet`,
  remedy: "make the field unique in Salesforce (Setup, Object Manager), or choose another upsert field",
});

function engineState(mapping: Mapping, report: EngineReport | null, progress: MappingProgress | null): MappingState {
  const configured = configuredState(mapping);
  if (configured !== "running") return configured;
  if (report?.broken) return "broken";
  if (progress === null) return "unknown";
  if (!progress.loaded && pulls(mapping.syncDirection)) return "loading";
  return progress.heldDeletes > 0 ? "deletes_held" : "running";
}
