import { creationWindow, IN_DOUBT } from "../../model/change/in-doubt.ts";
import { pulls } from "../../model/mapping/mapping.ts";
import { createdBy } from "../../model/mapping/soql.ts";
import { imageOf, sfidOf } from "../../model/record/incoming.ts";
import type { Cycle } from "../cycle/cycle.ts";
import type { PushOutcome } from "../ports/push-ports.ts";
import { readPage } from "../pull/read-page.ts";
import type { InDoubtWrite } from "./in-doubt-writes.ts";
import { countHeld, holds } from "./read-back-updates.ts";

/** A living record of that time and that user, of which nothing of ours knows. */
interface Candidate {
  readonly record: Readonly<Record<string, unknown>>;
  readonly createdAt: Date;
}

/** How many ids an error names; more would not help the reader. */
const NAMED = 5;

/**
 * Matches inserts in doubt with the records that our user created at that time and that no row or earlier answer knows.
 * The records that hold exactly what was sent are the inserts' results, if they are as many as the rows. Any record
 * left may be one too, changed since by a person or by automation: as long as there is such a record, nothing is sent
 * again, and an operator must decide. `unripe` are inserts that are too young to be judged; a record that equals one of
 * them is counted as its result.
 */
export async function matchLostInserts(
  cycle: Cycle,
  doubts: readonly InDoubtWrite[],
  unripe: readonly InDoubtWrite[] = [],
): Promise<PushOutcome[]> {
  const isOurs = ({ byAnother }: InDoubtWrite) => !byAnother;
  const [byUs, byAnother] = [doubts.filter(isOurs), doubts.filter((doubt) => !isOurs(doubt))];
  return [
    ...(byUs.length > 0 ? await lookUpOurs(cycle, byUs, unripe.filter(isOurs)) : []),
    ...(byAnother.length > 0 ? await lookUpTheirs(cycle, byAnother) : []),
  ];
}

async function lookUpOurs(
  cycle: Cycle,
  doubts: readonly InDoubtWrite[],
  unripe: readonly InDoubtWrite[],
): Promise<PushOutcome[]> {
  const candidates = await readCandidates(cycle, doubts, await cycle.writers());
  const { outcomes, unlike, left } = compare(cycle, doubts, candidates);
  const { left: unexplained } = compare(cycle, unripe, left);
  const all = [...outcomes, ...unlike.map((doubt) => judgeUnlike(cycle, doubt, unexplained))];
  const isOpen = all.some(({ kind }) => kind === "refused");
  if (isOpen) await hold(cycle, candidates);
  return all;
}

/**
 * The user as whom another product sent is unknown, and so is the owner of a record that is left: an insert that no
 * record equals is sent again.
 */
async function lookUpTheirs(cycle: Cycle, doubts: readonly InDoubtWrite[]): Promise<PushOutcome[]> {
  const { outcomes, unlike } = compare(cycle, doubts, await readCandidates(cycle, doubts, null));
  return [...outcomes, ...unlike.map(retryOutcome)];
}

async function readCandidates(
  cycle: Cycle,
  doubts: readonly InDoubtWrite[],
  writers: readonly string[] | null,
): Promise<Candidate[]> {
  const since = doubts.map((doubt) => doubt.since.getTime());
  const last = doubts.map(({ sentAt }) => sentAt.getTime());
  const { from, until } = creationWindow(new Date(Math.min(...since)), new Date(Math.max(...last)));
  const candidates: Candidate[] = [];
  for (let afterId: string | null = null; ; ) {
    const page = await readPage(cycle, createdBy(cycle.shape, writers, from, until, afterId));
    const living = page.records.filter((record) => record["IsDeleted"] !== true);
    const known = new Set(await cycle.store.knownSfids(cycle.shape.mappingId, living.map(sfidOf)));
    const unknown = living.filter((record) => !known.has(sfidOf(record)));
    candidates.push(...unknown.map((record) => ({ record, createdAt: new Date(String(record["CreatedDate"])) })));
    if (!page.next) return candidates;
    afterId = page.next.afterId;
  }
}

interface Compared {
  readonly outcomes: readonly PushOutcome[];
  /** Inserts in doubt that no record equals, and records that equal none. */
  readonly unlike: readonly InDoubtWrite[];
  readonly left: readonly Candidate[];
}

function compare({ shape }: Cycle, doubts: readonly InDoubtWrite[], candidates: readonly Candidate[]): Compared {
  const outcomes: PushOutcome[] = [];
  const unlike: InDoubtWrite[] = [];
  let left = candidates;
  for (const alike of alikeTogether(doubts)) {
    const equal = left.filter(({ record }) => holds(shape, record, alike[0].write.record));
    if (equal.length === 0) unlike.push(...alike);
    else outcomes.push(...judgeAlike(alike, equal));
    left = left.filter((candidate) => !equal.includes(candidate));
  }
  return { outcomes, unlike, left };
}

type Alike = readonly [InDoubtWrite, ...InDoubtWrite[]];

/**
 * Inserts of equal values cannot be distinguished, so they are judged together; those with the most values come first.
 */
function alikeTogether(doubts: readonly InDoubtWrite[]): Alike[] {
  const groups = new Map<string, [InDoubtWrite, ...InDoubtWrite[]]>();
  for (const doubt of doubts) {
    const { values, parents = [] } = doubt.write.record;
    const key = JSON.stringify([Object.entries(values).sort(), parents]);
    const group = groups.get(key);
    if (group) group.push(doubt);
    else groups.set(key, [doubt]);
  }
  const fields = ([{ write }]: Alike) => Object.keys(write.record.values).length;
  return [...groups.values()].sort((one, other) => fields(other) - fields(one));
}

function judgeAlike(alike: Alike, equal: readonly Candidate[]): PushOutcome[] {
  return alike.map((doubt, index) => {
    const { recordId, changeIds, action } = doubt.write;
    const found = equal[index];
    if (equal.length !== alike.length || !found) return refuse(doubt, equal);
    return { recordId, changeIds, kind: "accepted", action, sfid: sfidOf(found.record), answeredAt: found.createdAt };
  });
}

/** No record equals it: none that could be it at all, and it is sent again. */
function judgeUnlike({ shape }: Cycle, doubt: InDoubtWrite, unexplained: readonly Candidate[]): PushOutcome {
  const { from, until } = creationWindow(doubt.since, doubt.sentAt);
  const possible = unexplained.filter(({ createdAt }) => createdAt >= from && createdAt <= until);
  if (possible.length === 0) return retryOutcome(doubt);
  const likeness = ({ record }: Candidate) => countHeld(shape, record, doubt.write.record);
  return refuse(
    doubt,
    possible.toSorted((one, other) => likeness(other) - likeness(one)),
  );
}

export function retryOutcome({ write: { recordId, changeIds } }: InDoubtWrite): PushOutcome {
  return { recordId, changeIds, kind: "retry", afterSeconds: 0, counts: false, error: "its first answer was lost" };
}

function refuse({ write: { recordId, changeIds, action } }: InDoubtWrite, possible: readonly Candidate[]): PushOutcome {
  const ids = possible.slice(0, NAMED).map(({ record }) => sfidOf(record));
  const more = possible.length > NAMED ? ` and ${possible.length - NAMED} more` : "";
  const error =
    `${IN_DOUBT}: Salesforce's answer was lost, and row ${recordId} may be the record ${ids.join(" or ")}${more}, by what ` +
    "was created there at that time; if it is, set the row's sfid to that id and retry; if not, retry sends it as new; " +
    "an upsert_field on the mapping avoids this";
  return { recordId, changeIds, kind: "refused", action, error };
}

/** What a person must judge gets no row until then, also where no pull has met it yet. */
async function hold({ mapping, store, lease, shape, clock }: Cycle, candidates: readonly Candidate[]): Promise<void> {
  if (!pulls(mapping.syncDirection)) return;
  const images = candidates.map(({ record }) => imageOf(shape, record));
  await store.apply(lease, { images, readAt: new Date(clock.now()), lane: "reread", marks: {} });
}
