import { allowance, type Budget, isPullDue } from "../../model/budget.ts";
import type { RequestRefusal } from "../../model/change/refusal.ts";
import { pulls } from "../../model/mapping/mapping.ts";
import { outsideSince, type PageQuery, stampsSince } from "../../model/mapping/soql.ts";
import { sfidOf, stampOf } from "../../model/record/incoming.ts";
import type { Cycle } from "../cycle/cycle.ts";
import type { Unchanged } from "../lease/lease-ports.ts";
import type { Pulse, QueryPage } from "../pull/pull-ports.ts";

/** Queries that one composite call takes. */
const QUERIES_PER_CALL = 5;

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
 * answer. Whose slot is claimed by another leaves it to that one.
 */
export async function probe(
  asking: Asking,
  { budget, slot, waiting }: { readonly budget: Budget; readonly slot: number; readonly waiting: readonly string[] },
): Promise<Probed> {
  if (!(await asking.shared.claimProbe(slot))) return NOTHING_PROBED;
  const due = await duePulses(asking, budget);
  const questions = due.flatMap(questionsOf);
  // To ask one question costs as much as to pull.
  if (questions.length <= 1) return { ...NOTHING_PROBED, toPull: waiting };

  const withNews = new Set<string>();
  let at: Date | null = null;
  for (const answered of await askAll(asking, questions)) {
    const { answer, mappingId } = answered;
    if (answer && "readAt" in answer && (at === null || answer.readAt < at)) at = answer.readAt;
    if (!withNews.has(mappingId) && (await hasNews(asking, answered))) withNews.add(mappingId);
  }
  const unchanged = due.map(({ mappingId }) => mappingId).filter((mappingId) => !withNews.has(mappingId));
  await asking.shared.sendPulls([...withNews].filter((mappingId) => !waiting.includes(mappingId)));
  return {
    toPull: waiting.filter((mappingId) => withNews.has(mappingId)),
    unchanged: at === null ? null : { mappingIds: unchanged, at },
    changed: withNews.size,
  };
}

async function duePulses({ shared, store, clock }: Asking, budget: Budget): Promise<Pulse[]> {
  const now = new Date(clock.now());
  const pulling = (await shared.activeMappings()).filter(({ syncDirection }) => pulls(syncDirection));
  const seconds = new Map(pulling.map(({ id, pollingSeconds }) => [id, pollingSeconds]));
  const pulses = await store.pulses([...seconds.keys()]);
  return pulses.filter(({ mappingId, position, lastPullAt }) => {
    const { pullEverySeconds } = allowance(budget, seconds.get(mappingId) ?? 0, now);
    return position !== null && pullEverySeconds !== null && isPullDue(pullEverySeconds, lastPullAt, now);
  });
}

interface Question {
  readonly mappingId: string;
  readonly query: PageQuery;
  /** Asks for what changed and is outside of the filter. */
  readonly outside: boolean;
}

/** What changed; and of a filtered mapping what left the filter, which it does not show otherwise. */
function questionsOf({ mappingId, shape, position }: Pulse): readonly Question[] {
  const since = position ?? new Date(0);
  const inside = { mappingId, query: stampsSince(shape, since, null), outside: false };
  return shape.filter === null ? [inside] : [inside, { mappingId, query: outsideSince(shape, since), outside: true }];
}

interface Answered extends Question {
  readonly answer: QueryPage | RequestRefusal | undefined;
}

/** Some calls at a time, so that a hundred mappings take the time of two calls, not of twenty. */
async function askAll(asking: Asking, questions: readonly Question[]): Promise<readonly Answered[]> {
  const calls: Question[][] = [];
  for (let from = 0; from < questions.length; from += QUERIES_PER_CALL)
    calls.push(questions.slice(from, from + QUERIES_PER_CALL));
  const answered: Answered[] = [];
  for (let from = 0; from < calls.length; from += CALLS_AT_ONCE) {
    const some = calls.slice(from, from + CALLS_AT_ONCE);
    // All have ended before one's failure is told, so that none is left out of the count of calls.
    const ended = await Promise.allSettled(some.map((call) => ask(asking, call)));
    for (const [index, end] of ended.entries()) {
      if (end.status === "rejected") throw end.reason;
      answered.push(...(some[index] ?? []).map((question, at) => ({ ...question, answer: end.value[at] })));
    }
  }
  return answered;
}

async function ask(
  { hold, salesforce }: Asking,
  questions: readonly Question[],
): Promise<readonly (QueryPage | RequestRefusal)[]> {
  await hold.mayRead();
  return hold.during((within) =>
    salesforce.queryTogether(
      questions.map(({ query }) => query.soql),
      within,
    ),
  );
}

/** What a row holds already was read by the last pull, whose last minute is always asked for again. */
async function hasNews({ store }: Asking, { mappingId, outside, query, answer }: Answered): Promise<boolean> {
  // The mapping's own cycle meets the refusal, and tells it.
  if (!answer || "kind" in answer) return true;
  if (answer.records.length === 0) return false;
  if (!answer.complete || answer.records.length >= query.limit) return true;
  if (outside) return (await store.owned(mappingId, answer.records.map(sfidOf))).length > 0;
  const stamps = answer.records.map((record) => ({ sfid: sfidOf(record), systemModstamp: stampOf(record) }));
  return (await store.unseen(mappingId, stamps)).length > 0;
}
