import * as z from "zod/mini";
import type { SealedWorkspace } from "../access/ports.ts";
import type { Mappings } from "../config/ports.ts";
import type { EngineReport, EngineReports } from "../health/ports.ts";
import { isSparing, tellBudget } from "../model/budget.ts";
import { sizeNow, tellCallSize } from "../model/change/call-size.ts";
import { tellHeld } from "../model/change/delete-breaker.ts";
import { tellMissingParents } from "../model/change/missing-parent.ts";
import { FAILURE_REASONS } from "../model/engine.ts";
import { type Mapping, pulls } from "../model/mapping/mapping.ts";
import { type ReadSize, tellReadSize } from "../model/record/read-size.ts";
import { DatabaseUnavailable } from "../monitoring/ports.ts";
import { configuredState, type MappingState, mappingView, viewMapping } from "./mapping-view.ts";
import { type MappingProgress, READINGS, type RowQueries, type RowQueriesOf } from "./row-ports.ts";
import { nullableTimestamp } from "./shapes.ts";

/** A mapping with what the engine does with it; what its database would tell is null when that cannot be asked. */
export const mappingWithState = z.extend(mappingView, {
  /** The reason of `sync.broken` while the last cycle failed; `reason` says it in words. */
  failure: z.nullable(z.enum(FAILURE_REASONS)),
  broken_since: nullableTimestamp(),
  last_run_at: nullableTimestamp(),
  last_pull_at: nullableTimestamp(),
  rows_synced: z.nullable(z.int()),
  waiting: z.nullable(z.int()),
  oldest_waiting_at: nullableTimestamp(),
  failed: z.nullable(z.int()),
  held_deletes: z.nullable(z.int()),
  inbound_errors: z.nullable(z.int()),
  /** What slows it down or waits, without being in the way of all else, and what to do about it. */
  notices: z.array(z.object({ message: z.string(), remedy: z.string() })),
});

/** One mapping in full. */
export const mappingDetail = z.extend(mappingWithState, {
  /**
   * Of a first load, or of what reads all records again; null when nothing does. The total is about what the org has, null
   * before that is known; the end is when the rest is read at the pace so far, and moves on while nothing is read.
   */
  progress: z.nullable(
    z.object({
      reading: z.enum(READINGS),
      rows_done: z.int(),
      rows_total: z.nullable(z.int()),
      ends_at: nullableTimestamp(),
    }),
  ),
  /** Deletes of the last hour that the breaker let through, on either side; null while it holds none. */
  sent_deletes: z.nullable(z.int()),
  /** From a change of a row to Salesforce's word, over the last 1,000; null before the first. */
  lag_seconds: z.nullable(z.object({ p50: z.number(), p95: z.number() })),
  api_calls: z.record(z.string(), z.int()),
});

interface Needs {
  readonly mappings: Pick<Mappings, "list" | "listDeleted">;
  readonly engine: EngineReports;
  readonly desks: RowQueriesOf;
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
      withState(mapping, [], NO_ENGINE, null, now),
    );
  const [{ mappings }, engine, progress] = await Promise.all([
    needs.mappings.list(workspace.id),
    needs.engine.read(workspace.id),
    ifAvailable(needs.desks, workspace, (desk) => desk.progress()),
  ]);
  return mappings.map((mapping) =>
    withState(mapping, mappings, engine, progress === null ? null : progressOf(mapping, progress), now),
  );
}

/** One mapping with everything that is known about it. */
export async function readDetail(
  needs: Needs,
  workspace: SealedWorkspace,
  mapping: Mapping,
  now: Date,
): Promise<z.infer<typeof mappingDetail>> {
  const [{ mappings }, engine, found] = await Promise.all([
    needs.mappings.list(workspace.id),
    needs.engine.read(workspace.id),
    ifAvailable(needs.desks, workspace, async (desk) => {
      const progress = progressOf(mapping, await desk.progress());
      const sentDeletes = progress.heldDeletes > 0 ? await desk.recentDeletes(mapping.id) : null;
      return { progress, sentDeletes, lag: await desk.lag(mapping.id) };
    }),
  ]);
  const view = withState(mapping, mappings, engine, found?.progress ?? null, now);
  const reading = found?.progress.reading ?? (view.state === "loading" ? "load" : null);
  return {
    ...view,
    progress: found && reading ? { reading, ...howFar(found.progress, now) } : null,
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

/** Null when the database is not connected or cannot be asked: the list must be there when that is the trouble. */
async function ifAvailable<Answer>(
  desks: RowQueriesOf,
  workspace: SealedWorkspace,
  ask: (desk: RowQueries) => Promise<Answer>,
): Promise<Answer | null> {
  const { postgres } = await workspace.open();
  if (postgres === null) return null;
  try {
    await using desk = await desks.open(postgres);
    return await ask(desk);
  } catch (error) {
    if (error instanceof DatabaseUnavailable) return null;
    throw error;
  }
}

type Engine = Awaited<ReturnType<EngineReports["read"]>>;

const NO_ENGINE: Engine = { mappings: [], usage: null, budgetStep: 0, budgetSince: null };

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
  lastPullAt: null,
  lastRunAt: null,
  rowsSynced: 0,
  apiCalls: {},
  waiting: 0,
  oldestWaitingAt: null,
  failed: 0,
  heldDeletes: 0,
  upsertFieldUnique: true,
  inboundErrors: 0,
  waitingForParents: null,
};

function withState(
  mapping: Mapping,
  all: readonly Mapping[],
  { mappings, usage, budgetStep: step, budgetSince: since }: Engine,
  progress: MappingProgress | null,
  now: Date,
): z.infer<typeof mappingWithState> {
  const view = viewMapping(mapping, all);
  const report = reportOn(mapping, mappings);
  const running = engineState(mapping, report, progress);
  const spared = usage && isSparing({ usage, step }, pulls(mapping.syncDirection)) ? { usage, step, since } : null;
  const state = running === "running" && spared ? "sparing_calls" : running;
  const waits = state === "sparing_calls" && spared ? tellBudget(spared) : null;
  const held = progress?.heldDeletes ?? 0;
  const holds = state === "deletes_held" ? tellHeld(held, mapping.sfObject, mapping.deleteLimit) : null;
  const trouble = report?.message ?? waits ?? holds;
  return {
    ...view,
    state,
    reason: view.reason ?? (mapping.active ? trouble : null),
    failure: mapping.active ? (report?.failure ?? null) : null,
    broken_since: report?.brokenSince?.toISOString() ?? null,
    last_run_at: progress?.lastRunAt?.toISOString() ?? null,
    last_pull_at: progress?.lastPullAt?.toISOString() ?? null,
    rows_synced: progress?.rowsSynced ?? null,
    waiting: progress?.waiting ?? null,
    oldest_waiting_at: progress?.oldestWaitingAt?.toISOString() ?? null,
    failed: progress?.failed ?? null,
    held_deletes: progress?.heldDeletes ?? null,
    inbound_errors: progress?.inboundErrors ?? null,
    notices: noticesOn(mapping, report, progress, now),
  };
}

const tellBacklog = ({ recordsRead, recordsToRead }: MappingProgress, { sfObject }: Mapping) => ({
  message: `more of ${sfObject} has changed than pulls read in time: the Bulk API brings it, ${recordsRead} of ${recordsToRead ?? "many"} records so far`,
  remedy: "wait: what changes now is pulled meanwhile; the mapping's progress says about when it is done",
});

const isSmaller = (size: ReadSize | null | undefined): size is ReadSize => Boolean(size && size.rows + size.fields > 0);

function noticesOn(
  mapping: Mapping,
  report: EngineReport | null,
  progress: MappingProgress | null,
  now: Date,
): z.infer<typeof mappingWithState>["notices"] {
  const { batchSize, sfObject } = mapping;
  const size = sizeNow(batchSize, report?.callSize ?? null, now);
  return [
    ...(size < batchSize ? [tellCallSize(size, sfObject)] : []),
    ...(progress?.reading === "backlog" ? [tellBacklog(progress, mapping)] : []),
    ...(progress?.waitingForParents ? [tellMissingParents(progress.waitingForParents)] : []),
    ...(isSmaller(progress?.readSize) ? [tellReadSize(progress.readSize, sfObject)] : []),
    ...(progress?.upsertFieldUnique === false ? [tellShared(mapping)] : []),
  ];
}

const tellShared = ({ upsertField }: Mapping) => ({
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
