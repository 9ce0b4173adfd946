import { sfidOf } from "../model/incoming.ts";
import { createdBy } from "../model/soql.ts";
import type { Cycle } from "./cycle.ts";
import type { Doubtful } from "./doubtful.ts";
import type { PushOutcome } from "./ports.ts";
import { holds } from "./read-back-updates.ts";
import { readPage } from "./read-page.ts";

/** A transaction that we gave up on ends within eleven minutes; the org's clock and ours may be two minutes apart. */
const BEFORE_MILLISECONDS = 2 * 60_000;
const AFTER_MILLISECONDS = 13 * 60_000;

type Found = Readonly<Record<string, unknown>>;

/**
 * Inserts in doubt by the records that our user created at that time, that no row owns and that hold exactly what was
 * sent: none, and the insert is sent again; as many as rows, and each gets one; else a person must say.
 */
export async function lookUpInserts(cycle: Cycle, doubts: readonly Doubtful[]): Promise<PushOutcome[]> {
  const byUs = doubts.filter(({ byAnotherSince }) => byAnotherSince === null);
  const byAnother = doubts.filter(({ byAnotherSince }) => byAnotherSince !== null);
  return [
    ...(byUs.length > 0 ? await lookUpSome(cycle, byUs, await cycle.userId()) : []),
    ...(byAnother.length > 0 ? await lookUpSome(cycle, byAnother, null) : []),
  ];
}

/** `userId`: as whom they were sent; null: nobody knows. */
async function lookUpSome(cycle: Cycle, doubts: readonly Doubtful[], userId: string | null): Promise<PushOutcome[]> {
  const candidates = await readCandidates(cycle, doubts, userId);
  const outcomes: PushOutcome[] = [];
  for (const alike of alikeTogether(doubts)) {
    const matching = candidates.filter((record) => holds(cycle.shape, record, alike[0].write.record));
    outcomes.push(...judgeAlike(alike, matching, new Date(cycle.clock.now())));
    if (matching.length === alike.length)
      for (const record of matching) candidates.splice(candidates.indexOf(record), 1);
  }
  return outcomes;
}

async function readCandidates(cycle: Cycle, doubts: readonly Doubtful[], userId: string | null): Promise<Found[]> {
  const since = doubts.map(({ sentAt, byAnotherSince }) => (byAnotherSince ?? sentAt).getTime());
  const from = new Date(Math.min(...since) - BEFORE_MILLISECONDS);
  const until = new Date(Math.max(...doubts.map(({ sentAt }) => sentAt.getTime())) + AFTER_MILLISECONDS);
  const records: Found[] = [];
  for (let afterId: string | null = null; ; ) {
    const page = await readPage(cycle, createdBy(cycle.shape, userId, from, until, afterId));
    const living = page.records.filter((record) => record["IsDeleted"] !== true);
    const owned = new Set(await cycle.store.owned(cycle.shape.mappingId, living.map(sfidOf)));
    records.push(...living.filter((record) => !owned.has(sfidOf(record))));
    if (!page.next) return records;
    afterId = page.next.afterId;
  }
}

type Alike = readonly [Doubtful, ...Doubtful[]];

/** Inserts of equal values cannot be told apart, so they are judged together; the ones that say most come first. */
function alikeTogether(doubts: readonly Doubtful[]): Alike[] {
  const groups = new Map<string, [Doubtful, ...Doubtful[]]>();
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

function judgeAlike(alike: Alike, matching: readonly Found[], answeredAt: Date): PushOutcome[] {
  return alike.map(({ write }, index) => {
    const { recordId, changeIds, action } = write;
    const record = matching[index];
    if (matching.length === 0) {
      return { recordId, changeIds, kind: "retry", afterSeconds: 0, counts: false, error: "its first answer was lost" };
    }
    if (matching.length === alike.length && record) {
      return { recordId, changeIds, kind: "accepted", action, sfid: sfidOf(record), answeredAt };
    }
    return { recordId, changeIds, kind: "refused", action, error: inDoubt(matching.length, alike.length) };
  });
}

function inDoubt(records: number, rows: number): string {
  return (
    `IN_DOUBT: Salesforce's answer was lost, and ${records} records there could be ${rows} rows here; ` +
    "delete what is doubled in Salesforce, then retry; an upsert_field on the mapping avoids this"
  );
}
