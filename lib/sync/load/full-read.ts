import { isUnsupported, type RefusalKind, SalesforceRefusal } from "../../model/change/refusal.ts";
import type { TableShape } from "../../model/mapping/shape.ts";
import { allAfter, everything, pageSizeOf } from "../../model/mapping/soql.ts";
import { imageOf, imageOfLine, sfidOf } from "../../model/record/incoming.ts";
import { OVERLAP_SECONDS } from "../../model/record/position.ts";
import type { Image } from "../../model/record/record.ts";
import { type Cycle, type Moved, pause } from "../cycle/cycle.ts";
import {
  type BulkPart,
  type BulkPlace,
  type LoadCheckpoint,
  UNSTARTED,
  type WrittenPart,
} from "../ports/load-ports.ts";
import { applyImages, readPage } from "../pull/read-page.ts";
import { comparing, type Taker } from "./compare-both.ts";

/** Up to so many pages, 10,000 records mostly, REST takes fewer calls and less time than a job of the Bulk API. */
const BULK_ABOVE_PAGES = 5;

/** After so many lost jobs of the Bulk API the reading continues by REST. */
const MOST_FAILED_JOBS = 2;

/** Records of one part of a sweep's results, which has next to nothing to write. */
const SWEPT_PART_RECORDS = 100_000;

/** A page of a Bulk job's results ends with the piece in which it reaches so many records, or characters. */
const BULK_PAGE_RECORDS = 2_000;
const BULK_PAGE_CHARACTERS = 4_000_000;

/** How soon a Bulk job is polled first, and the longest interval between polls; no user waits for a sweep. */
const FIRST_LOOK_MILLISECONDS = 500;
const LAST_LOOK_MILLISECONDS = 15_000;
const LAST_SWEEP_LOOK_MILLISECONDS = 120_000;

/**
 * The first checkpoint of a reading, by the cheaper way; a Bulk job is stored before anything is read of it. The number
 * of records comes from Salesforce's statistics: COUNT() of a large object does not answer in time.
 */
export async function startReading(
  cycle: Cycle,
  { kind, since, overRows, failedJobs = 0 }: Pick<LoadCheckpoint, "kind" | "since" | "overRows" | "failedJobs">,
): Promise<LoadCheckpoint> {
  const { salesforce, shape, store, lease, hold } = cycle;
  await hold.mayRead();
  // A statistic, which may be missing or old: when more comes than it says, a job reads the rest.
  const counted = await hold.during(() => salesforce.recordCount(shape.sfObject));
  const isOverRows = overRows ?? (kind === "load" && (await hasRows(cycle)));
  const byRest: LoadCheckpoint = {
    ...{ ...UNSTARTED, kind, read: 0, records: shape.filter === null && since === undefined ? counted : null },
    ...(since !== undefined && { since }),
    ...(isOverRows && { overRows: true }),
    ...(kind === "sweep" && { lastRow: await store.lastRow(lease), met: {} }),
    ...(failedJobs > 0 && { failedJobs }),
  };
  return failedJobs >= MOST_FAILED_JOBS || (counted !== null && counted <= mostByRest(shape))
    ? byRest
    : startJob(cycle, byRest);
}

const mostByRest = (shape: TableShape): number => BULK_ABOVE_PAGES * pageSizeOf(shape);

/** The same place with a job that reads all that is left, or without one for good, where the Bulk API refuses it. */
async function startJob(cycle: Cycle, checkpoint: LoadCheckpoint): Promise<LoadCheckpoint> {
  const { salesforce, shape, tally } = cycle;
  const { afterId } = checkpoint;
  try {
    const soql = everything(shape, changedFrom(checkpoint), afterId);
    const { jobId, readAt } = await salesforce.startBulkQuery(soql);
    const place = { jobId, locator: null };
    const startedAt = afterId === null ? readAt : checkpoint.startedAt;
    const byBulk = { ...checkpoint, startedAt, bulk: place };
    await commit(cycle, { load: byBulk });
    return byBulk;
  } catch (error) {
    if (!isUnsupported(error)) throw error;
    tally.notes.push(`the Bulk API refused (${error.message}); read by REST instead`);
    return { ...checkpoint, failedJobs: MOST_FAILED_JOBS };
  }
}

async function hasRows({ store, lease }: Cycle): Promise<boolean> {
  const { sfids } = await store.rowsAfter(lease, { afterRow: 0, buckets: null, limit: 1 });
  return sfids.length > 0;
}

/** Reads and applies all that is left of a reading; gives the checkpoint at its end. */
export async function readAllRecords(cycle: Cycle, checkpoint: LoadCheckpoint): Promise<LoadCheckpoint> {
  const taker = checkpoint.kind === "sweep" ? comparing(cycle, checkpoint) : applying(cycle, checkpoint);
  const place = checkpoint.bulk;
  let read: LoadCheckpoint;
  try {
    const since = { ...checkpoint, readSince: checkpoint.readSince ?? new Date(cycle.clock.now()).toISOString() };
    read = place ? await readByBulk(cycle, since, place, taker) : await readByRest(cycle, since, taker);
  } catch (error) {
    if (!(error instanceof JobLost)) throw error;
    return readAllRecords(cycle, await startOver(cycle, checkpoint, error));
  }
  if (!place && read.bulk) return readAllRecords(cycle, read);
  const done: LoadCheckpoint = { ...read, ...taker.met(), bulk: null, afterId: null, afterRow: 0 };
  await commit(cycle, { ...ended(done), ...(looksAtRows(cycle, done) && { load: done }) });
  return done;
}

/** A Bulk job will never give its results, or no more of them: it failed, was aborted, or is older than seven days. */
class JobLost extends Error {}

/** What the lost job had brought stays; rows whose records are gone meanwhile are looked for in the end. */
async function startOver(cycle: Cycle, checkpoint: LoadCheckpoint, lost: JobLost): Promise<LoadCheckpoint> {
  // Each further job would fail like one that was too large.
  const failedJobs =
    lost.cause instanceof SalesforceRefusal && lost.cause.refusal.kind === "tooLarge"
      ? MOST_FAILED_JOBS
      : (checkpoint.failedJobs ?? 0) + 1;
  const next = await startReading(cycle, { ...checkpoint, failedJobs });
  const job = next.bulk;
  cycle.tally.notes.push(`${lost.message}; ${job ? `started over as job ${job.jobId}` : "read by REST instead"}`);
  return next;
}

/** Asks something of a job. A refusal that will stay means that the job is lost. */
async function ofJob<Answer>(jobId: string, ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof SalesforceRefusal) || !JOB_IS_LOST.has(error.refusal.kind)) throw error;
    throw new JobLost(`Bulk query job ${jobId} is lost (${error.message})`, { cause: error });
  }
}

const JOB_IS_LOST: ReadonlySet<RefusalKind> = new Set(["bug", "mapping", "replication", "locator", "tooLarge"]);

/**
 * Whether the rows are looked at after the records: by a sweep, by a first load over rows of before, some of whose records
 * may be gone, and after a change of the mapping, for a new filter may leave rows outside whose records no cycle meets.
 */
export function looksAtRows({ shape }: Cycle, { kind, overRows }: LoadCheckpoint): boolean {
  return kind === "sweep" || overRows === true || (kind === "backfill" && shape.filter !== null);
}

/** A first load, or a backfill, writes what it reads; a backlog what a row does not have already. */
const applying = (cycle: Cycle, { kind }: LoadCheckpoint): Taker => ({
  take: (page) => applyImages(cycle, kind === "backlog" ? { ...page, lane: "sweep" } : page),
  met: () => ({}),
});

async function readByRest(cycle: Cycle, from: LoadCheckpoint, { take, met }: Taker): Promise<LoadCheckpoint> {
  for (let checkpoint = from; ; ) {
    const { records, readAt, next } = await readPage(
      cycle,
      allAfter(cycle.shape, checkpoint.afterId, changedFrom(checkpoint)),
    );
    const startedAt = checkpoint.startedAt > UNSTARTED.startedAt ? checkpoint.startedAt : readAt;
    const last = records.at(-1);
    const { size } = cycle.reading;
    const afterId = last ? sfidOf(last) : checkpoint.afterId;
    const read = (checkpoint.read ?? 0) + records.length;
    checkpoint = { ...checkpoint, startedAt, afterId, read, size };
    const images = records.map((record) => imageOf(cycle.shape, record));
    if (last) await take({ images, readAt, lane: "load", marks: { load: checkpoint } });
    if (!next) return checkpoint;
    if (read <= mostByRest(cycle.shape) || (checkpoint.failedJobs ?? 0) >= MOST_FAILED_JOBS) continue;
    const { readSince: _, ...rest } = { ...checkpoint, ...met(), records: null, read: 0 };
    const byBulk = await startJob(cycle, rest);
    if (byBulk.bulk) return byBulk;
    checkpoint = { ...checkpoint, failedJobs: MOST_FAILED_JOBS };
  }
}

/** Parts of a job's results that are read side by side: each takes Salesforce seconds, and is written meanwhile. */
const PARTS_AT_ONCE = 3;

/**
 * Reads the parts of a job's results. Each page commits where every part of the unfinished ones is, so that in whatever
 * order they end, and wherever they break off, a later reading continues behind what is written.
 */
async function readByBulk(
  cycle: Cycle,
  from: LoadCheckpoint,
  { jobId, locator, written: before = [] }: BulkPlace,
  taker: Taker,
): Promise<LoadCheckpoint> {
  let checkpoint: LoadCheckpoint = { ...from, records: await untilDone(cycle, from, jobId) };
  await commit(cycle, { load: checkpoint });
  const [open, behind] = [[] as Part[], [...before]];
  const parts = partsOf(cycle, checkpoint, { jobId, locator }, { open, behind });
  const readOneByOne = async () => {
    for (;;) {
      await cycle.hold.mayRead();
      const { done, value: part } = await cycle.hold.during(() => parts.next());
      if (done) return;
      await takePart(cycle, part, async (images, own) => {
        const written = [...open.map((one) => (one === part ? own : one.written)), ...behind];
        const place = { jobId, locator: open[0]?.locator ?? null, written };
        const read = { read: (checkpoint.read ?? 0) + images.length };
        const load = { ...checkpoint, ...read, bulk: place };
        // What the job read is as old as the job.
        await taker.take({ images, readAt: from.startedAt, lane: "load", marks: { load } });
        checkpoint = { ...checkpoint, read: (checkpoint.read ?? 0) + images.length };
        part.written = own;
      });
      part.isDone = true;
      while (open[0]?.isDone) open.shift();
    }
  };
  const atOnce = from.kind === "sweep" ? 1 : PARTS_AT_ONCE;
  const ends = await Promise.allSettled(Array.from({ length: atOnce }, readOneByOne));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  return checkpoint;
}

/** A part of a job's results, where it begins, and how much of it is written. */
interface Part extends BulkPart {
  readonly jobId: string;
  readonly locator: string | null;
  written: WrittenPart | null;
  isDone: boolean;
}

/** The parts in their order, which are open from then on: the beginning of each answer names the next part. */
async function* partsOf(
  { salesforce }: Cycle,
  { kind }: LoadCheckpoint,
  { jobId, locator: first }: BulkPlace,
  { open, behind }: { readonly open: Part[]; readonly behind: (WrittenPart | null)[] },
): AsyncGenerator<Part, undefined> {
  const most = kind === "sweep" ? SWEPT_PART_RECORDS : undefined;
  for (let locator = first; ; ) {
    const results = await ofJob(jobId, () => salesforce.bulkResults(jobId, locator, most));
    const part = { ...results, jobId, locator, written: behind.shift() ?? null, isDone: false };
    open.push(part);
    yield part;
    if (part.next === null) return;
    locator = part.next;
  }
}

/** Takes the rest of a part's records page by page; what it waits for, the parts beside it do not. */
async function takePart(
  cycle: Cycle,
  part: Part,
  take: (images: readonly Image[], written: WrittenPart) => Promise<void>,
): Promise<void> {
  const pages = pagesOf(cycle.shape, unwritten(cycle.shape, part));
  try {
    for (;;) {
      await cycle.hold.mayRead();
      const { done, value: images } = await cycle.hold.during(() => ofJob(part.jobId, () => pages.next()));
      if (done) return;
      const records = (part.written?.records ?? 0) + images.length;
      await take(images, { records, lastId: images.at(-1)?.sfid ?? "" });
    }
  } finally {
    await pages.return(undefined);
  }
}

/** The lines of a part that are not written yet. Salesforce gives the lines of a part in one order, as long as it keeps them. */
async function* unwritten(shape: TableShape, { jobId, pieces, written }: Part): BulkPart["pieces"] {
  let left = written?.records ?? 0;
  for await (const { lines, characters } of pieces) {
    const last = lines[left - 1];
    if (last && imageOfLine(shape, last).sfid !== written?.lastId)
      throw new JobLost(`Bulk query job ${jobId} gives its results in another order than before`);
    if (left === 0 || lines.length > left) yield { lines: lines.slice(left), characters };
    left = Math.max(0, left - lines.length);
  }
}

async function* pagesOf(shape: TableShape, pieces: BulkPart["pieces"]): AsyncGenerator<Image[]> {
  let [images, size]: [Image[], number] = [[], 0];
  for await (const { lines, characters } of pieces) {
    for (const line of lines) images.push(imageOfLine(shape, line));
    size += characters;
    if (images.length === 0 || (images.length < BULK_PAGE_RECORDS && size < BULK_PAGE_CHARACTERS)) continue;
    yield images;
    [images, size] = [[], 0];
  }
  if (images.length > 0) yield images;
}

/** Waits for a job's end; gives how many records it found. */
async function untilDone({ hold, salesforce, clock }: Cycle, { kind }: LoadCheckpoint, jobId: string): Promise<number> {
  const longest = kind === "sweep" ? LAST_SWEEP_LOOK_MILLISECONDS : LAST_LOOK_MILLISECONDS;
  for (let wait = FIRST_LOOK_MILLISECONDS; ; wait = Math.min(wait * 2, longest)) {
    await hold.mayRead();
    const records = await hold.during(() => ofJob(jobId, () => salesforce.bulkQueryRecords(jobId)));
    if (records !== null) return records;
    await hold.during(() => pause(clock, wait));
  }
}

const changedFrom = ({ since }: Pick<LoadCheckpoint, "since">) => (since === undefined ? null : new Date(since));

/** A first load hands over to the fast lane, from where it began. */
function ended({ kind, startedAt }: LoadCheckpoint): Moved {
  if (kind !== "load") return { load: null };
  const position = new Date(startedAt.getTime() - OVERLAP_SECONDS * 1000);
  const lanes = { fast: undefined, late: undefined, outside: undefined, pages: undefined };
  return { load: null, position, deleted: position, lanes };
}

/** Writes marks alone. */
export async function commit({ store, lease, clock }: Cycle, marks: Moved): Promise<void> {
  await store.apply(lease, { images: [], readAt: new Date(clock.now()), lane: "load", marks });
}
