import { SalesforceRefusal } from "../../model/change/refusal.ts";
import { changedSince, type Keyset, outsideSince, stampsSince } from "../../model/mapping/soql.ts";
import { sfidOf, stampOf } from "../../model/record/incoming.ts";
import { createPosition } from "../../model/record/position.ts";
import { type Cycle, type Moved, tallyApplied } from "../cycle/cycle.ts";
import type { Watermarks } from "../lease/lease-ports.ts";
import { applyPage, readAgain, readPage, removeRows } from "./read-page.ts";

/** Late commits and hard deletes are looked for this often, late commits this far back. */
const LATE_EVERY_MILLISECONDS = 5 * 60_000;
const LATE_WINDOW_MILLISECONDS = 15 * 60_000;

/** Beats come every ten seconds with some jitter, so one that is five seconds early will do. */
const JITTER_MILLISECONDS = 5_000;

/** getDeleted refuses a window of less than a minute, of whose ends it reads the minutes alone. */
const SHORTEST_WINDOW_MILLISECONDS = 2 * 60_000;

interface Pulled {
  readonly marks: Moved;
  /** The org's time of the last answer. */
  readonly pulledAt: Date;
}

/** Salesforce to rows: what changed since the position, and every five minutes what was committed late or deleted. */
export async function pull(cycle: Cycle, marks: Watermarks): Promise<Pulled> {
  if (marks.position === null)
    throw new Error(`mapping ${cycle.mapping.id} has no position: its first load has not ended`);
  // First, because what the fast lane has passed is not asked for again.
  if (cycle.shape.filter !== null) await exitLane(cycle, marks.position);
  const fast = await fastLane(cycle, marks.position);
  const isLate = areLateLanesDue(marks, fast.at);
  const slow = isLate ? await slowLane(cycle, fast) : {};
  const deleted = isLate ? await deletedLane(cycle, marks, fast) : {};
  return { pulledAt: fast.at, marks: { position: fast.position, ...slow, ...deleted } };
}

interface Fast {
  readonly position: Date;
  readonly at: Date;
}

/**
 * Whether the lanes are due that a probe cannot stand for. Both go together, by the time of the slow one: what getDeleted
 * covers may lag behind for hours, and would be asked at every beat.
 */
export function areLateLanesDue({ slow }: Watermarks, now: Date): boolean {
  return !slow || now.getTime() - slow.getTime() >= LATE_EVERY_MILLISECONDS - JITTER_MILLISECONDS;
}

/** Page by page in the order of stamps; each page commits as far as it is safe to start from next time. */
async function fastLane(cycle: Cycle, start: Date): Promise<Fast> {
  const position = createPosition(start);
  for (let from: Date | Keyset = start; ; ) {
    const page = await readPage(cycle, (shape) => changedSince(shape, from));
    const moved = position.after({ lastStamp: page.next?.stamp ?? null, readAt: page.readAt });
    if (page.records.length > 0) await applyPage(cycle, page, "fast", { position: moved });
    if (!page.next) return { position: moved, at: page.readAt };
    from = page.next;
  }
}

/** Records that changed and are outside of the filter now: their rows leave the table. */
async function exitLane(cycle: Cycle, start: Date): Promise<void> {
  for (let from: Date | Keyset = start; ; ) {
    const page = await readPage(cycle, (shape) => outsideSince(shape, from));
    const owned = new Set(await cycle.store.owned(cycle.shape.mappingId, page.records.map(sfidOf)));
    await removeRows(cycle, { ...page, records: page.records.filter((record) => owned.has(sfidOf(record))) });
    if (!page.next) return;
    from = page.next;
  }
}

/** Ids and stamps of a quarter of an hour that was read before: what no row holds was committed after it was passed. */
async function slowLane(cycle: Cycle, fast: Fast): Promise<Moved> {
  for (let from: Date | Keyset = new Date(fast.position.getTime() - LATE_WINDOW_MILLISECONDS); ; ) {
    const page = await readPage(cycle, (shape) => stampsSince(shape, from, fast.position));
    const stamps = page.records.map((record) => ({ sfid: sfidOf(record), systemModstamp: stampOf(record) }));
    const missing = stamps.length > 0 ? await cycle.store.unseen(cycle.shape.mappingId, stamps) : [];
    await readAgain(cycle, missing, "slow");
    if (!page.next) return { slow: fast.at };
    from = page.next;
  }
}

/** What getDeleted knows beyond soft deletes. The next window starts where Salesforce says that this one is covered. */
async function deletedLane(cycle: Cycle, { deleted }: Watermarks, { at, position }: Fast): Promise<Moved> {
  if (!deleted) return { deleted: position };
  if (at.getTime() - deleted.getTime() < SHORTEST_WINDOW_MILLISECONDS) return {};
  try {
    return await applyDeleted(cycle, deleted, at);
  } catch (error) {
    if (!(error instanceof SalesforceRefusal) || !TOLERATED.has(error.refusal.kind)) throw error;
    cycle.tally.notes.push(`getDeleted was refused (${error.message}); a sweep looks for hard deletes instead`);
    if (error.refusal.kind === "replication") await cycle.shared.sendSweep(cycle.mapping.id);
    return { deleted: position };
  }
}

/** Refused for this object or this window for good: the beat goes on without hard deletes. */
const TOLERATED: ReadonlySet<string> = new Set(["replication", "mapping", "bug"]);

async function applyDeleted(cycle: Cycle, from: Date, until: Date): Promise<Moved> {
  await cycle.hold.mayRead();
  const { records, latestDateCovered, readAt } = await cycle.hold.during((within) =>
    cycle.salesforce.deleted(cycle.shape.sfObject, from, until, within),
  );
  const images = records.map(({ id, deletedAt }) => ({
    sfid: id,
    systemModstamp: deletedAt,
    isDeleted: true,
    values: {},
  }));
  const covered = { deleted: latestDateCovered > from ? latestDateCovered : from };
  if (images.length === 0) return covered;
  const applied = await cycle.store.apply(cycle.lease, { images, readAt, lane: "deleted", marks: {} });
  tallyApplied(cycle.tally, images.length, applied);
  // No other reading tells of them: what a row was held for is asked for once more.
  return applied.busy > 0 ? { deleted: from } : covered;
}
