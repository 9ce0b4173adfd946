import type { Write } from "../../model/change/fold.ts";
import { PAGE_SIZE, stampsWithIds } from "../../model/mapping/soql.ts";
import { type Cycle, pause } from "../cycle/cycle.ts";
import type { RecordStamp } from "../ports/pull-ports.ts";
import { readAgain, recordsOf, stampsIn } from "../pull/read-page.ts";
import { giveBack, type PushProgress, putOff, settle } from "./push-progress.ts";
import { idsOf } from "./save-batch.ts";

/** Two saves in one second share a stamp, so a record is read when that second is over; the org's clock has whole seconds. */
const SETTLED_MILLISECONDS = 2_000;

/** When a row is tried again that a transaction of the application holds. */
const BUSY_SECONDS = 10;

/** A record that Salesforce has changed, and when the second of its stamp is over (epoch milliseconds). */
export interface Changed extends RecordStamp {
  readonly overAt: number;
}

/**
 * Looks whether Salesforce has changed records that are about to be saved, 2,000 a call. What waits of their rows is given
 * back. Answers these records, which the pull is to judge once all others are sent; empty where none has changed.
 * `settledUntil`: up to which stamp every record was read after its second.
 */
export async function checkRecords(
  cycle: Cycle,
  sending: PushProgress,
  given: readonly Write[],
  settledUntil: Date | null,
): Promise<readonly Changed[]> {
  const { clock, shape, store } = cycle;
  const writes = given.filter((write) => !sending.delayed.has(write));
  await putOffBusy(cycle, sending, writes);
  const ids = [...new Set(writes.flatMap(({ record }) => record.id ?? []))];
  if (ids.length === 0) return [];
  const stamps: RecordStamp[] = [];
  let readAt = new Date(0);
  for await (const page of recordsOf(cycle, ids, stampsWithIds, PAGE_SIZE)) {
    readAt = page.readAt;
    stamps.push(...stampsIn(page));
  }
  const open = stamps.filter(({ sfid, systemModstamp }) => sending.judged.get(sfid) !== systemModstamp.getTime());
  const unseen = new Set(open.length > 0 ? await store.unseen(shape.mappingId, open) : []);
  const isNew = ({ sfid, systemModstamp }: RecordStamp) =>
    unseen.has(sfid) || (settledUntil !== null && systemModstamp >= settledUntil);
  const changed = open.filter(isNew);
  const sfids = new Set(changed.map(({ sfid }) => sfid));
  const rows = new Set(writes.flatMap(({ record, recordId }) => (sfids.has(record.id ?? "") ? [recordId] : [])));
  const left = writes.filter(({ recordId }) => rows.has(recordId));
  for (const write of left) sending.delayed.set(write, 0);
  await giveBack(cycle, sending, idsOf(left));
  // By our clock, which may differ from the org's.
  const overAt = (stamp: Date) => clock.now() + stamp.getTime() + SETTLED_MILLISECONDS - readAt.getTime();
  return changed.map((record) => ({ ...record, overAt: overAt(record.systemModstamp) }));
}

/** Has the pull judge what was given back against the records as they are now, by the mapping's policy. */
export async function judgeChanged(cycle: Cycle, sending: PushProgress, changed: readonly Changed[]): Promise<void> {
  if (changed.length === 0) return;
  const { clock, shape, store, tally } = cycle;
  const overAt = Math.max(...changed.map((record) => record.overAt));
  if (overAt > clock.now()) await cycle.hold.during(() => pause(clock, overAt - clock.now()));
  const busyBefore = tally.busy;
  const sfids = changed.map(({ sfid }) => sfid);
  await readAgain(cycle, sfids, "slow");
  for (const { sfid, systemModstamp } of changed) sending.judged.set(sfid, systemModstamp.getTime());
  if (tally.busy === busyBefore) return;
  for (const sfid of await store.unseen(shape.mappingId, changed)) sending.busy.add(sfid);
}

/** Puts off what waits of rows that a transaction holds, so that they could not take what Salesforce has changed. */
async function putOffBusy(cycle: Cycle, sending: PushProgress, writes: readonly Write[]): Promise<void> {
  const held = writes.filter(({ record }) => sending.busy.has(record.id ?? ""));
  const outcomes = held.map((write) => putOff(sending, write, BUSY_SECONDS, "a transaction holds the row"));
  await settle(cycle, sending, outcomes);
}
