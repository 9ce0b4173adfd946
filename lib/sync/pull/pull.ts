import { SalesforceRefusal } from "../../model/change/refusal.ts";
import { pushes } from "../../model/mapping/mapping.ts";
import { changedSince, type Echo, type Keyset, outsideSince, stampsSince } from "../../model/mapping/soql.ts";
import { sfidOf } from "../../model/record/incoming.ts";
import { createPosition, OVERLAP_SECONDS, settledUntil } from "../../model/record/position.ts";
import { deletedImage } from "../../model/record/record.ts";
import { type Cycle, type Moved, tallyApplied } from "../cycle/cycle.ts";
import type { Lanes, Watermarks } from "../ports/lease-ports.ts";
import type { LoadCheckpoint } from "../ports/load-ports.ts";
import { handOverBacklog } from "./hand-over-backlog.ts";
import { applyPage, commitMarks, type ReadPage, readBeside, readPage, readUnseen, removeRows } from "./read-page.ts";

/** Late commits and hard deletes are looked for this often, late commits this far back. */
const LATE_EVERY_MILLISECONDS = 5 * 60_000;
export const LATE_WINDOW_MILLISECONDS = 15 * 60_000;

/** Beats come every ten seconds with some jitter, so one that is five seconds early will do. */
const JITTER_MILLISECONDS = 5_000;

/** getDeleted refuses a window of less than a minute, of whose ends it reads the minutes alone. */
export const SHORTEST_WINDOW_MILLISECONDS = 2 * 60_000;

interface Pulled {
  readonly marks: Moved;
  /** The org's time of the last answer; null: the fast lane has not come to its end. */
  readonly pulledAt: Date | null;
  /** False: its time slice was over, and the next one continues from the marks. */
  readonly isDone: boolean;
}

/** How far a pull is. */
interface Place {
  position: Date;
  lanes: Lanes;
  load: LoadCheckpoint | null;
}

/**
 * Salesforce to rows: what changed since the position, and every five minutes what was committed late or deleted. It
 * ends after the page in which its time slice is over.
 */
export async function pull(cycle: Cycle, marks: Watermarks, isOver: () => boolean): Promise<Pulled> {
  const { position, lanes, load } = marks;
  if (position === null) throw new Error(`mapping ${cycle.mapping.id} has no position: its first load has not ended`);
  const place: Place = { position, lanes, load };
  // First, because what the fast lane has passed is not asked for again.
  const isClear = cycle.shape.filter === null || (await exitLane(cycle, place, isOver));
  const at = isClear ? await fastLane(cycle, place, isOver) : null;
  if (at === null) return { marks: place, pulledAt: null, isDone: false };
  if (!areLateLanesDue(marks, at)) return { marks: place, pulledAt: at, isDone: true };
  if (!(await slowLane(cycle, place, isOver))) return { marks: place, pulledAt: at, isDone: false };
  const deleted = await deletedLane(cycle, marks, { at, position: place.position });
  return { marks: { ...place, slow: at, ...deleted }, pulledAt: at, isDone: true };
}

/**
 * Whether the lanes are due that look for what came late or was deleted. Both go together, by the time of the slow one: what getDeleted
 * covers may lag behind for hours, and would be asked at every beat.
 */
export function areLateLanesDue({ slow }: Watermarks, now: Date): boolean {
  return !slow || Math.abs(now.getTime() - slow.getTime()) >= LATE_EVERY_MILLISECONDS - JITTER_MILLISECONDS;
}

/** So many pages of what changed go by REST; what is more goes to the Bulk API, of whose calls each brings 50,000. */
const BACKLOG_PAGES = 25;

/**
 * Page by page in the order of stamps; each page commits as far as it is safe to start from next time. Gives the org's
 * time at its end; null: its time slice is over.
 */
async function fastLane(cycle: Cycle, place: Place, isOver: () => boolean): Promise<Date | null> {
  const { fast } = place.lanes;
  // A keyset of another second belongs to a position that an operator or a load has moved since.
  const goesOn = fast !== undefined && fast.stamp.getTime() === place.position.getTime();
  let position = createPosition(place.position);
  for (let [from, tries]: [Date | Keyset, boolean] = [goesOn ? fast : place.position, place.load === null]; ; ) {
    const page = await readChanged(cycle, place, from);
    const isClockBack = followClock(cycle, place, page.readAt);
    place.position = position.after({ lastStamp: page.next?.stamp ?? null, readAt: page.readAt });
    const pages = page.next ? (place.lanes.pages ?? 0) + 1 : undefined;
    place.lanes = { ...place.lanes, fast: settled(page, place.position), pages };
    if (page.records.length > 0) await applyPage(cycle, page, "fast", { position: place.position, lanes: place.lanes });
    if (!page.next && !isClockBack) return page.readAt;
    from = isClockBack ? place.position : (page.next ?? place.position);
    if (tries && (pages ?? 0) >= BACKLOG_PAGES) {
      tries = false;
      const reached = await handOverBacklog(cycle, place.position, place.lanes);
      if (reached) {
        Object.assign(place, reached);
        [from, position] = [reached.position, createPosition(reached.position)];
      }
    }
    if (isOver()) return null;
  }
}

/** A page of what changed. Of what the last pull has read, our own saves are asked for by ids and stamps in the same call. */
async function readChanged(cycle: Cycle, place: Place, from: Date | Keyset): Promise<ReadPage> {
  const echo = await echoBehind(cycle, place);
  const ours = echo && stampsSince(cycle.shape, from, echo.until, echo.writers);
  const { page, stamps } = await readBeside(cycle, changedSince(cycle.shape, from, echo), ours);
  if (echo && stamps && page.readAt >= place.position) await echoLane(cycle, echo, stamps, page.next === null);
  return page;
}

/**
 * Null: the last pull did not come to its end. It has read what came before once the seconds of the stamps were over, so
 * a row with an equal stamp holds it. A save of the same second by others may still come late, with the stamp that the
 * row has: what others saved last is read whole for as long.
 */
async function echoBehind({ shape, writers }: Cycle, { position, lanes }: Place): Promise<Echo | null> {
  if (!shape.namesWriter || !pushes(shape.direction) || lanes.pages !== undefined || lanes.back) return null;
  return { writers: await writers(), until: settledUntil(position) };
}

/** Late commits of our own: of one page at each poll, and of all that the position is about to pass. */
async function echoLane(cycle: Cycle, echo: Echo, first: ReadPage, isWhole: boolean): Promise<void> {
  const passed = isWhole ? new Date(first.readAt.getTime() - OVERLAP_SECONDS * 1000) : echo.until;
  for (let page = first; ; ) {
    await readUnseen(cycle, page);
    const { next } = page;
    if (next === null || next.stamp >= passed) return;
    page = await readPage(cycle, stampsSince(cycle.shape, next, echo.until, echo.writers));
  }
}

/** Whether the org's clock went back behind the position. Then other lanes start again, and the operator is warned. */
function followClock({ tally }: Cycle, place: Place, now: Date): boolean {
  const { position: stamp, lanes } = place;
  if (lanes.back && lanes.back.stamp <= now) place.lanes = { ...lanes, back: undefined };
  if (now >= stamp) return false;
  place.lanes = { ...lanes, late: undefined, outside: undefined, back: { stamp } };
  tally.notes.push(
    `Salesforce's clock went back: it is ${now.toISOString()} there, and changes were read up to ${stamp.toISOString()}; ` +
      "what is stamped from now on is read, and what is stamped later is read again until that time is over",
  );
  return true;
}

/**
 * Where a page ends, if all of its last second was there when it was read and nothing before it has to be read again.
 */
function settled({ next, readAt }: ReadPage, position: Date): Keyset | undefined {
  if (next === null || next.stamp.getTime() !== position.getTime()) return undefined;
  return readAt.getTime() - next.stamp.getTime() >= OVERLAP_SECONDS * 1000 ? next : undefined;
}

/**
 * Records that changed and are outside of the filter now: their rows leave the table. False: its time slice is over.
 */
async function exitLane(cycle: Cycle, place: Place, isOver: () => boolean): Promise<boolean> {
  const { outside } = place.lanes;
  const position = createPosition(place.position);
  for (let from = outside && outside.stamp >= place.position ? outside : place.position; ; ) {
    const page = await readPage(cycle, outsideSince(cycle.shape, from));
    const reached = position.after({ lastStamp: page.next?.stamp ?? null, readAt: page.readAt });
    place.lanes = { ...place.lanes, outside: settled(page, reached) ?? place.lanes.outside };
    const owned = new Set(await cycle.store.owned(cycle.shape.mappingId, page.records.map(sfidOf)));
    const records = page.records.filter((record) => owned.has(sfidOf(record)));
    await removeRows(cycle, { ...page, records }, page.next ? { lanes: place.lanes } : {});
    if (!page.next) return true;
    if (isOver()) return false;
    from = page.next;
  }
}

/**
 * Ids and stamps of a quarter of an hour that was read before: a version that no row holds was committed after the pull
 * had passed it. False: its time slice is over.
 */
async function slowLane(cycle: Cycle, place: Place, isOver: () => boolean): Promise<boolean> {
  const start = new Date(place.position.getTime() - LATE_WINDOW_MILLISECONDS);
  for (let from = place.lanes.late ?? start; ; ) {
    const page = await readPage(cycle, stampsSince(cycle.shape, from, place.position));
    await readUnseen(cycle, page);
    place.lanes = { ...place.lanes, late: page.next ?? undefined };
    if (!page.next) return true;
    await commitMarks(cycle, page.readAt, { lanes: place.lanes });
    if (isOver()) return false;
    from = page.next;
  }
}

/** What getDeleted knows beyond soft deletes. The next window starts where Salesforce says that this one is covered. */
async function deletedLane(
  cycle: Cycle,
  { deleted }: Watermarks,
  { at, position }: { readonly at: Date; readonly position: Date },
): Promise<Moved> {
  if (!deleted || deleted > at) return { deleted: position };
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

/** Salesforce refuses this object or this window for good: the cycles continue without hard deletes. */
export const TOLERATED: ReadonlySet<string> = new Set(["replication", "mapping", "bug", "tooLarge"]);

async function applyDeleted(cycle: Cycle, from: Date, until: Date): Promise<Moved> {
  await cycle.hold.mayRead();
  const { records, latestDateCovered, readAt } = await cycle.hold.during((within) =>
    cycle.salesforce.deleted(cycle.shape.sfObject, from, until, within),
  );
  const images = records.map(({ id, deletedAt }) => deletedImage({ sfid: id, systemModstamp: deletedAt }));
  const covered = { deleted: latestDateCovered > from ? latestDateCovered : from };
  if (images.length === 0) return covered;
  const applied = await cycle.store.apply(cycle.lease, { images, readAt, lane: "deleted", marks: {} });
  tallyApplied(cycle.tally, images.length, applied);
  // No other reading returns them: the records of rows that were locked are asked for again.
  return applied.busy > 0 ? { deleted: from } : covered;
}
