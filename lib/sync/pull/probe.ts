import type { Budget } from "../../model/calls/budget.ts";
import { QUERIES_PER_CALL } from "../../model/calls/forecast.ts";
import { isDue, isPullNoted } from "../../model/calls/next-pull.ts";
import type { RequestRefusal } from "../../model/change/refusal.ts";
import { chunks } from "../../model/chunks.ts";
import { type Mapping, pulls } from "../../model/mapping/mapping.ts";
import { type Keyset, outsideSince, type PageQuery, stampsSince } from "../../model/mapping/soql.ts";
import { sfidOf, stampOf } from "../../model/record/incoming.ts";
import { createPosition } from "../../model/record/position.ts";
import type { Cycle } from "../cycle/cycle.ts";
import type { LateLook, Unchanged, Watermarks } from "../ports/lease-ports.ts";
import type { DeletedRecords, DeletedWindow, Pulse, QueryPage } from "../ports/pull-ports.ts";
import { areLateLanesDue, LATE_WINDOW_MILLISECONDS, SHORTEST_WINDOW_MILLISECONDS, TOLERATED } from "./pull.ts";
import { stampsIn } from "./read-page.ts";

/** Such calls under way at once; an org ends none of them for that, they take milliseconds. */
const CALLS_AT_ONCE = 10;

/** What a probe needs of a cycle. It changes no row, so a lease is not one of it. */
export interface Asking extends Pick<Cycle, "store" | "salesforce" | "shared" | "clock"> {
  readonly hold: Pick<Cycle["hold"], "mayRead" | "during">;
}

/** What a probe came to. */
export interface Probed {
  /** Of the mappings whose cycles wait for it, those that have to pull. */
  readonly toPull: readonly string[];
  readonly unchanged: Unchanged | null;
  /** Mappings of the workspace that have changed. */
  readonly changed: number;
}

export const NOTHING_PROBED: Probed = { toPull: [], unchanged: null, changed: 0 };

/**
 * Asks for the whole workspace which mappings have changed, five for one call, and wakes them but those that wait for the
 * answer. Where a mapping's late lanes are due, its question reaches back as far as they do, and getDeleted travels along.
 * Whose slot is claimed by another leaves it to that one.
 */
export async function probe(
  asking: Asking,
  { budget, slot, waiting }: { readonly budget: Budget; readonly slot: number; readonly waiting: readonly string[] },
): Promise<Probed> {
  if (!(await asking.shared.claimProbe(slot))) return NOTHING_PROBED;
  const now = new Date(asking.clock.now());
  const due = await duePulses(asking, budget, now);
  const withNews = new Set(due.filter((pulse) => mustLookItself(pulse, now)).map(({ mappingId }) => mappingId));
  const questions = due.filter(({ mappingId }) => !withNews.has(mappingId)).flatMap((pulse) => questionsOf(pulse, now));
  // To ask one question costs as much as to pull, but for the late lanes.
  if (withNews.size === 0 && questions.length <= 1 && !questions[0]?.late)
    return { ...NOTHING_PROBED, toPull: waiting };

  let at: Date | null = null;
  const late: LateLook[] = [];
  for (const answered of await askAll(asking, questions)) {
    const { answer, mappingId } = answered;
    if (answer && "readAt" in answer && (at === null || answer.readAt < at)) at = answer.readAt;
    if (!withNews.has(mappingId) && (await hasNews(asking, answered))) withNews.add(mappingId);
    if (answered.late && answer && "readAt" in answer) late.push(lookOf(answered, answered.late, answer.readAt));
  }
  const isUnchanged = ({ mappingId }: { readonly mappingId: string }) => !withNews.has(mappingId);
  const isNoted = ({ mappingId, mapping, ...pulse }: Due) =>
    late.some((look) => look.mappingId === mappingId) || isPullNoted(budget, mapping, pulse, now);
  const unchanged = due.filter((one) => isUnchanged(one) && isNoted(one)).map(({ mappingId }) => mappingId);
  await asking.shared.sendPulls([...withNews].filter((mappingId) => !waiting.includes(mappingId)));
  return {
    toPull: waiting.filter((mappingId) => withNews.has(mappingId)),
    unchanged: at === null ? null : { mappingIds: unchanged, at, late: late.filter(isUnchanged) },
    changed: withNews.size,
  };
}

interface Due extends Pulse {
  readonly mapping: Mapping;
}

async function duePulses({ shared, store }: Asking, budget: Budget, now: Date): Promise<Due[]> {
  const pulling = (await shared.activeMappings()).filter(({ syncDirection }) => pulls(syncDirection));
  const byId = new Map(pulling.map((mapping) => [mapping.id, mapping]));
  const pulses = await store.pulses([...byId.keys()]);
  return pulses.flatMap((pulse) => {
    const mapping = byId.get(pulse.mappingId);
    return mapping !== undefined && isDue(budget, mapping, pulse, now) ? [{ ...pulse, mapping }] : [];
  });
}

/** Its late lanes are due, and are under way, or its deletes were not read yet, or long work reads beside them. */
function mustLookItself({ marks }: Pulse, now: Date): boolean {
  const { position, deleted, slow, load, lanes } = marks;
  const isAhead = (place: Keyset | undefined) => place !== undefined && position !== null && place.stamp >= position;
  const isUnderWay = load !== null || lanes.late !== undefined || isAhead(lanes.fast) || isAhead(lanes.outside);
  return areLateLanesDue(marks, now) && (isUnderWay || deleted === null || slow === null);
}

interface Question {
  readonly mappingId: string;
  readonly query: PageQuery;
  readonly since: Date;
  /** Asks for what changed and is outside of the filter. */
  readonly outside: boolean;
  /** Also used for the late lanes. */
  readonly late: Late | null;
}

interface Late {
  readonly from: Date;
  readonly deleted: Date;
  /** Null: too short a one for getDeleted. */
  readonly window: DeletedWindow | null;
}

/** What changed; and of a filtered mapping what left the filter, which it does not show otherwise. */
function questionsOf({ mappingId, shape, marks, lastPullAt }: Pulse, now: Date): readonly Question[] {
  const since = marks.position ?? new Date(0);
  const late = areLateLanesDue(marks, now) ? lateOf(shape.sfObject, marks, lastPullAt) : null;
  const from = late ? new Date(since.getTime() - LATE_WINDOW_MILLISECONDS) : since;
  const inside = { mappingId, since, query: stampsSince(shape, from, null), outside: false, late };
  if (shape.filter === null) return [inside];
  return [inside, { ...inside, query: outsideSince(shape, since), outside: true, late: null }];
}

/** Up to the last answer, because the org's time is not known before this one. */
function lateOf(object: string, { position, deleted }: Watermarks, lastPullAt: Date | null): Late | null {
  if (position === null || deleted === null) return null;
  const until = lastPullAt ?? deleted;
  const isLong = until.getTime() - deleted.getTime() >= SHORTEST_WINDOW_MILLISECONDS;
  return { from: position, deleted, window: isLong ? { object, from: deleted, until } : null };
}

interface Answered extends Question {
  readonly answer: QueryPage | RequestRefusal | undefined;
  /** Null: not asked. */
  readonly gone: DeletedRecords | RequestRefusal | null;
}

/** Some calls at a time, so that a hundred mappings take the time of two calls, not of twenty. */
async function askAll(asking: Asking, questions: readonly Question[]): Promise<readonly Answered[]> {
  const answered: Answered[] = [];
  for (const some of chunks(chunks(questions, QUERIES_PER_CALL), CALLS_AT_ONCE)) {
    // All have ended before one's failure is thrown, so that none is left out of the count of calls.
    const ended = await Promise.allSettled(some.map((call) => ask(asking, call)));
    for (const end of ended) {
      if (end.status === "rejected") throw end.reason;
      answered.push(...end.value);
    }
  }
  return answered;
}

async function ask({ hold, salesforce }: Asking, questions: readonly Question[]): Promise<readonly Answered[]> {
  const windows = questions.flatMap(({ late }) => late?.window ?? []);
  const soqls = questions.map(({ query }) => query.soql);
  await hold.mayRead();
  const { pages, deleted } = await hold.during((within) => salesforce.askTogether(soqls, windows, within));
  const gone = deleted.values();
  return questions.map((question, at) => ({
    ...question,
    answer: pages[at],
    gone: question.late?.window ? (gone.next().value ?? null) : null,
  }));
}

/** What a row holds already was read by the last pull, whose last minute is always asked for again. */
async function hasNews(
  asking: Asking,
  { mappingId, since, outside, query, answer, late, gone }: Answered,
): Promise<boolean> {
  const { store } = asking;
  // The mapping's own cycle meets the refusal, and reports it.
  if (!answer || "kind" in answer) return true;
  const last = answer.records.at(-1);
  // The org's clock went back.
  if (answer.readAt < since || (last && stampOf(last) > answer.readAt)) return true;
  if (gone !== null && (await hasDeleted(asking, mappingId, gone))) return true;
  if (answer.records.length === 0) return false;
  if (!answer.complete || answer.records.length >= query.limit) return true;
  if (outside) return (await store.owned(mappingId, answer.records.map(sfidOf))).length > 0;
  const stamps = stampsIn(answer);
  // Two saves in one second share a stamp: what the position passes is read again.
  if (late && stamps.some(({ systemModstamp }) => systemModstamp >= late.from)) return true;
  return (await store.unseen(mappingId, stamps)).length > 0;
}

/** Whether getDeleted lists more than what left the table already. An object without it is left to sweeps. */
async function hasDeleted(
  { store }: Asking,
  mappingId: string,
  gone: DeletedRecords | RequestRefusal,
): Promise<boolean> {
  if ("kind" in gone) return gone.kind === "replication" || !TOLERATED.has(gone.kind);
  if (gone.records.length === 0) return false;
  const stamps = gone.records.map(({ id, deletedAt }) => ({ sfid: id, systemModstamp: deletedAt }));
  return (await store.unseen(mappingId, stamps)).length > 0;
}

/** Where the lanes are once a question was used for them. */
function lookOf({ mappingId, gone }: Answered, { from, deleted }: Late, readAt: Date): LateLook {
  const covered = gone !== null && "latestDateCovered" in gone ? gone.latestDateCovered : deleted;
  const position = createPosition(from).after({ lastStamp: null, readAt });
  return { mappingId, from, marks: { position, slow: readAt, deleted: covered > deleted ? covered : deleted } };
}
