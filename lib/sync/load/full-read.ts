import { type RefusalKind, SalesforceRefusal } from "../../model/change/refusal.ts";
import type { TableShape } from "../../model/mapping/shape.ts";
import { allAfter, countOf, everything, pageSizeOf } from "../../model/mapping/soql.ts";
import { imageOfLine, sfidOf } from "../../model/record/incoming.ts";
import { OVERLAP_SECONDS } from "../../model/record/position.ts";
import type { Image } from "../../model/record/record.ts";
import { type Cycle, type Moved, pause } from "../cycle/cycle.ts";
import type { Page } from "../pull/pull-ports.ts";
import { applyImages, applyPage, readPage } from "../pull/read-page.ts";
import type { BulkPart, LoadCheckpoint } from "./load-ports.ts";
import { readAhead } from "./read-ahead.ts";

/** Up to so many pages, 10,000 records mostly, REST takes fewer calls and less time than a job of the Bulk API. */
const BULK_ABOVE_PAGES = 5;

/** So many lost jobs of the Bulk API, and the reading goes on by REST. */
const MOST_FAILED_JOBS = 2;

/** A page of a Bulk job's results ends with the piece in which it reaches so many records, or characters. */
const BULK_PAGE_RECORDS = 2_000;
const BULK_PAGE_CHARACTERS = 4_000_000;

/** How soon a Bulk job is first looked after, and how far apart the looks become. */
const FIRST_LOOK_MILLISECONDS = 500;
const LAST_LOOK_MILLISECONDS = 15_000;

/** The first mark of a reading, by the cheaper way; a Bulk job is written down before anything is read of it. */
export async function startReading(
  cycle: Cycle,
  kind: LoadCheckpoint["kind"],
  failedJobs = 0,
): Promise<LoadCheckpoint> {
  await cycle.hold.mayRead();
  const { records, readAt } = await cycle.hold.during(() => cycle.salesforce.count(countOf(cycle.shape)));
  const isOverRows = kind === "load" && (await cycle.store.rowsAfter(cycle.lease, 0, 1)).length > 0;
  const nothing = { afterId: null, bulk: null, afterRow: null };
  const byRest: LoadCheckpoint = {
    ...{ kind, startedAt: readAt, records, ...nothing },
    ...(isOverRows && { overRows: true }),
    ...(failedJobs > 0 && { failedJobs }),
  };
  if (failedJobs >= MOST_FAILED_JOBS || records <= BULK_ABOVE_PAGES * pageSizeOf(cycle.shape)) return byRest;
  try {
    const { jobId, readAt: startedAt } = await cycle.salesforce.startBulkQuery(everything(cycle.shape));
    const byBulk = { ...byRest, startedAt, bulk: { jobId, locator: null } };
    await commit(cycle, { load: byBulk });
    return byBulk;
  } catch (error) {
    if (!isUnsupported(error)) throw error;
    cycle.tally.notes.push(`the Bulk API refused (${error.message}); read by REST instead`);
    return byRest;
  }
}

/** Some objects, and some orgs, have no Bulk API. */
function isUnsupported(error: unknown): error is SalesforceRefusal {
  return error instanceof SalesforceRefusal && (error.refusal.kind === "bug" || error.refusal.kind === "mapping");
}

/** Reads and applies all that is left of a reading; gives the mark that stands when nothing is left. */
export async function readAllRecords(cycle: Cycle, mark: LoadCheckpoint): Promise<LoadCheckpoint> {
  try {
    if (mark.bulk) await readByBulk(cycle, mark, mark.bulk);
    else await readByRest(cycle, mark);
  } catch (error) {
    if (!(error instanceof JobLost)) throw error;
    return readAllRecords(cycle, await startOver(cycle, mark, error));
  }
  const read: LoadCheckpoint = { ...mark, bulk: null, afterId: null, afterRow: 0 };
  await commit(cycle, { ...ended(mark), ...(looksAtRows(cycle, mark) && { load: read }) });
  return read;
}

/** A Bulk job will never give its results, or no more of them: it failed, was aborted, or is older than seven days. */
class JobLost extends Error {}

/** What the lost job had brought stays; rows whose records are gone meanwhile are looked for in the end. */
async function startOver(
  cycle: Cycle,
  { kind, failedJobs = 0 }: LoadCheckpoint,
  lost: JobLost,
): Promise<LoadCheckpoint> {
  const next = await startReading(cycle, kind, failedJobs + 1);
  cycle.tally.notes.push(
    `${lost.message}; ${next.bulk ? `started over as job ${next.bulk.jobId}` : "read by REST instead"}`,
  );
  return next;
}

/** Asks something of a job. A refusal that will stay means that the job is lost. */
async function ofJob<Answer>(jobId: string, ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    const stays = error instanceof SalesforceRefusal && JOB_IS_LOST.has(error.refusal.kind);
    throw stays ? new JobLost(`Bulk query job ${jobId} is lost (${error.message})`) : error;
  }
}

const JOB_IS_LOST: ReadonlySet<RefusalKind> = new Set(["bug", "mapping", "replication", "locator"]);

/**
 * Whether the rows are looked at after the records: by a sweep, by a first load over rows of before, some of whose records
 * may be gone, and after a change of the mapping, for a new filter may leave rows outside whose records no cycle meets.
 */
export function looksAtRows({ shape }: Cycle, { kind, overRows }: LoadCheckpoint): boolean {
  return kind === "sweep" || overRows === true || (kind === "backfill" && shape.filter !== null);
}

async function readByRest(cycle: Cycle, mark: LoadCheckpoint): Promise<void> {
  for (let afterId = mark.afterId; ; ) {
    const page = await readPage(cycle, allAfter(cycle.shape, afterId));
    const last = page.records.at(-1);
    if (last) {
      afterId = sfidOf(last);
      await applyPage(cycle, page, laneOf(mark), { load: { ...mark, afterId } });
    }
    if (!page.next) return;
  }
}

/** One page is written while the next one is read: what waits for the org and what waits for the database go together. */
async function readByBulk(
  cycle: Cycle,
  mark: LoadCheckpoint,
  bulk: NonNullable<LoadCheckpoint["bulk"]>,
): Promise<void> {
  await untilDone(cycle, bulk.jobId);
  for (const pages = readAhead(bulkPages(cycle, mark, bulk)); ; ) {
    await cycle.hold.mayRead();
    const { done, value } = await cycle.hold.during(() => ofJob(bulk.jobId, () => pages.next()));
    if (done) return;
    // What the job read is as old as the job.
    await applyImages(cycle, { ...value, readAt: mark.startedAt, lane: laneOf(mark) });
  }
}

/** Pages of a job's results, the first page of each part with the mark that all before that part is written. */
async function* bulkPages(
  { salesforce, shape }: Cycle,
  mark: LoadCheckpoint,
  bulk: NonNullable<LoadCheckpoint["bulk"]>,
): AsyncGenerator<Pick<Page, "images" | "marks">> {
  for (let locator = bulk.locator; ; ) {
    const { pieces, next } = await salesforce.bulkResults(bulk.jobId, locator);
    let marks: Moved = { load: { ...mark, bulk: { ...bulk, locator } } };
    for await (const images of pagesOf(shape, pieces)) {
      yield { images, marks };
      marks = {};
    }
    if (next === null) return;
    locator = next;
  }
}

async function* pagesOf(shape: TableShape, pieces: BulkPart["pieces"]): AsyncGenerator<Image[]> {
  let [images, size]: [Image[], number] = [[], 0];
  for await (const { lines, characters } of pieces) {
    for (const line of lines) images.push(imageOfLine(shape, line));
    size += characters;
    if (images.length < BULK_PAGE_RECORDS && size < BULK_PAGE_CHARACTERS) continue;
    yield images;
    [images, size] = [[], 0];
  }
  if (images.length > 0) yield images;
}

async function untilDone({ hold, salesforce, clock }: Cycle, jobId: string): Promise<void> {
  for (let wait = FIRST_LOOK_MILLISECONDS; ; wait = Math.min(wait * 2, LAST_LOOK_MILLISECONDS)) {
    await hold.mayRead();
    if (await hold.during(() => ofJob(jobId, () => salesforce.isBulkQueryDone(jobId)))) return;
    await hold.during(() => pause(clock, wait));
  }
}

const laneOf = ({ kind }: LoadCheckpoint) => (kind === "sweep" ? "sweep" : "load");

/** A first load hands over to the fast lane, from where it began. */
function ended({ kind, startedAt }: LoadCheckpoint): Moved {
  if (kind !== "load") return { load: null };
  const position = new Date(startedAt.getTime() - OVERLAP_SECONDS * 1000);
  return { load: null, position, deleted: position };
}

async function commit({ store, lease, clock }: Cycle, marks: Moved): Promise<void> {
  await store.apply(lease, { images: [], readAt: new Date(clock.now()), lane: "load", marks });
}
