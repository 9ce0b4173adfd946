import type { Write } from "../../model/change/fold.ts";
import { PAGE_SIZE, stampsWithIds } from "../../model/mapping/soql.ts";
import { sfidOf, stampOf } from "../../model/record/incoming.ts";
import { type Cycle, pause } from "../cycle/cycle.ts";
import type { RecordStamp } from "../pull/pull-ports.ts";
import { readAgain, recordsOf } from "../pull/read-page.ts";
import { giveBack, type PushProgress, putOff, settle } from "./push-progress.ts";
import { idsOf } from "./save-batch.ts";

/** Two saves in one second share a stamp, so a record is read when that second is over; the org's clock has whole seconds. */
const SETTLED_MILLISECONDS = 2_000;

/** When a row is tried again that a transaction of the application holds. */
const BUSY_SECONDS = 10;

/**
 * Looks whether Salesforce has changed records that are about to be saved, 2,000 a call. What waits of their rows is given
 * back, so that the pull judges it against the record as it is now, by the mapping's policy; then it is claimed again.
 * `settledUntil`: up to which stamp every record was read after its second.
 */
export async function checkRecords(
  cycle: Cycle,
  sending: PushProgress,
  writes: readonly Write[],
  settledUntil: Date | null,
): Promise<void> {
  const { clock, shape, store, tally } = cycle;
  await putOffBusy(cycle, sending, writes);
  const ids = [...new Set(writes.flatMap(({ record }) => record.id ?? []))];
  if (ids.length === 0) return;
  const stamps: RecordStamp[] = [];
  let readAt = new Date(0);
  for await (const page of recordsOf(cycle, ids, stampsWithIds, PAGE_SIZE)) {
    readAt = page.readAt;
    stamps.push(...page.records.map((record) => ({ sfid: sfidOf(record), systemModstamp: stampOf(record) })));
  }
  const open = stamps.filter(({ sfid, systemModstamp }) => sending.judged.get(sfid) !== systemModstamp.getTime());
  const unseen = new Set(open.length > 0 ? await store.unseen(shape.mappingId, open) : []);
  const isNew = ({ sfid, systemModstamp }: RecordStamp) =>
    unseen.has(sfid) || (settledUntil !== null && systemModstamp >= settledUntil);
  const changed = new Map(open.filter(isNew).map(({ sfid, systemModstamp }) => [sfid, systemModstamp.getTime()]));
  if (changed.size === 0) return;

  const rows = new Set(writes.flatMap(({ record, recordId }) => (changed.has(record.id ?? "") ? [recordId] : [])));
  const left = writes.filter(({ recordId }) => rows.has(recordId));
  for (const write of left) sending.delayed.set(write, 0);
  await giveBack(cycle, sending, idsOf(left));

  const overAt = Math.max(...changed.values()) + SETTLED_MILLISECONDS;
  if (overAt > readAt.getTime()) await cycle.hold.during(() => pause(clock, overAt - readAt.getTime()));
  const busyBefore = tally.busy;
  await readAgain(cycle, [...changed.keys()], "slow");
  for (const [sfid, stamp] of changed) sending.judged.set(sfid, stamp);
  if (tally.busy === busyBefore) return;
  for (const sfid of await store.unseen(shape.mappingId, open.filter(isNew))) sending.busy.add(sfid);
}

/** Puts off what waits of rows that a transaction holds, so that they could not take what Salesforce has changed. */
async function putOffBusy(cycle: Cycle, sending: PushProgress, writes: readonly Write[]): Promise<void> {
  const held = writes.filter(({ record }) => sending.busy.has(record.id ?? ""));
  const outcomes = held.map((write) => putOff(sending, write, BUSY_SECONDS, "a transaction holds the row"));
  await settle(cycle, sending, outcomes);
}
