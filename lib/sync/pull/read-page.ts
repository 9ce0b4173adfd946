import { creationWindow } from "../../model/change/in-doubt.ts";
import type { RequestRefusal } from "../../model/change/refusal.ts";
import { SalesforceRefusal } from "../../model/change/refusal.ts";
import { chunks } from "../../model/chunks.ts";
import type { TableShape } from "../../model/mapping/shape.ts";
import {
  atMost,
  type Keyset,
  outsideWithIds,
  PAGE_SIZE,
  type PageQuery,
  pageSizeOf,
  strangersWithIds,
  withIds,
} from "../../model/mapping/soql.ts";
import { imageOf, sfidOf, stampOf } from "../../model/record/incoming.ts";
import { grown, halved, type ReadSize, smaller } from "../../model/record/read-size.ts";
import { deletedImage } from "../../model/record/record.ts";
import { type Cycle, type Moved, tallyApplied } from "../cycle/cycle.ts";
import type { Applied, Page, QueryPage, RecordStamp } from "../ports/pull-ports.ts";

/** Records asked for by one query by id; a page of 2,000 is the five queries that one composite call takes. */
const IDS_PER_QUERY = 400;

/** A page of a query, and from where the next one continues; null: this was the last. */
export interface ReadPage extends QueryPage {
  readonly next: Keyset | null;
}

/**
 * Reads one page. Pages continue by keyset, so no cursor has to stay open. A query that is too large for the org is
 * asked for again with half of the records.
 */
export async function readPage(cycle: Cycle, query: PageQuery): Promise<ReadPage> {
  return (await readBeside(cycle, query, null)).page;
}

/** The same with a page of ids and stamps in the same call; null: none is asked for. */
export async function readBeside(
  cycle: Cycle,
  query: PageQuery,
  stamps: PageQuery | null,
): Promise<{ readonly page: ReadPage; readonly stamps: ReadPage | null }> {
  return inHalves(cycle, query.limit, async (size) => {
    const first = atMost(query, halved(query.limit, size));
    const second = stamps && atMost(stamps, halved(stamps.limit, size));
    await cycle.hold.mayRead();
    const [page, beside] = await cycle.hold.during(async (within) =>
      second
        ? (await cycle.salesforce.queryTogether([first.soql, second.soql], within)).map(orThrow)
        : [await cycle.salesforce.query(first.soql, within)],
    );
    if (!page) throw new Error("a query was not answered");
    const ofStamps = second && beside ? { ...beside, next: nextOf(beside, second) } : null;
    return { page: { ...page, next: nextOf(page, first) }, stamps: ofStamps };
  });
}

function nextOf({ records, complete }: QueryPage, { limit }: PageQuery): Keyset | null {
  const last = records.at(-1);
  if (last === undefined || (complete && records.length < limit)) return null;
  return { stamp: stampOf(last), afterId: sfidOf(last) };
}

async function inHalves<Answer>(
  cycle: Cycle,
  records: number,
  read: (size: ReadSize) => Promise<Answer>,
): Promise<Answer> {
  const { reading, clock, tally } = cycle;
  reading.size = grown(reading.size, clock.now());
  for (;;) {
    try {
      return await read(reading.size);
    } catch (error) {
      const next =
        error instanceof SalesforceRefusal ? smaller(reading.size, error.refusal, records, clock.now()) : null;
      if (next === null) throw error;
      reading.size = next;
      tally.notes.push(`a read was too much for the org (${String(error)}); it is asked for in smaller pieces`);
    }
  }
}

/** Applies a page, then reads again by id what it shows from before our last push. */
export async function applyPage(cycle: Cycle, page: QueryPage, lane: Page["lane"], marks: Moved): Promise<void> {
  const images = page.records.map((record) => imageOf(cycle.shape, record));
  await applyImages(cycle, { images, readAt: page.readAt, lane, marks });
}

/** The same with records that are images already. */
export async function applyImages(cycle: Cycle, page: Page): Promise<void> {
  const applied = await cycle.store.apply(cycle.lease, { ...page, keepsHistory: cycle.mapping.keepHistory });
  tallyApplied(cycle.tally, page.images.length, applied);
  if (applied.suspects) await admitStrangers(cycle, applied.suspects);
  // An image read in the second of our push is as old as it can be: the next pull sees the record again.
  if (page.lane !== "reread") await readAgain(cycle, applied.reread, "reread");
}

/** Of records that may be inserts of ours in doubt, those that others created, or at another time, become rows after all. */
async function admitStrangers(
  cycle: Cycle,
  { sfids, firstSentAt, lastSentAt }: NonNullable<Applied["suspects"]>,
): Promise<void> {
  const writers = await cycle.writers();
  const window = creationWindow(firstSentAt, lastSentAt);
  const strangers = (shape: TableShape, ids: readonly string[]) => strangersWithIds(shape, ids, writers, window);
  for await (const { records, readAt } of recordsOf(cycle, sfids, strangers)) {
    if (records.length === 0) continue;
    const images = records.map((record) => imageOf(cycle.shape, record));
    await applyImages(cycle, { images, readAt, lane: "reread", marks: {}, areStrangers: true });
  }
}

/** Commits marks without any record. */
export async function commitMarks({ store, lease }: Cycle, readAt: Date, marks: Moved): Promise<void> {
  await store.apply(lease, { images: [], readAt, lane: "fast", marks });
}

/** Reads and applies those records of a page of stamps that no row holds at their stamps. */
export async function readUnseen(cycle: Cycle, page: QueryPage): Promise<void> {
  const stamps = stampsIn(page);
  const missing = stamps.length > 0 ? await cycle.store.unseen(cycle.shape.mappingId, stamps) : [];
  await readAgain(cycle, missing, "slow");
}

/** Reads records by id, deleted ones too, and applies them. */
export async function readAgain(cycle: Cycle, ids: readonly string[], lane: "reread" | "slow"): Promise<void> {
  for await (const page of recordsOf(cycle, await withoutOutside(cycle, ids))) {
    if (page.records.length > 0) await applyPage(cycle, page, lane, {});
  }
}

/**
 * Reads the records again that could not become rows. Those that Salesforce does not know any more are dropped from the
 * list.
 */
export async function readHeldBack(cycle: Cycle, asked: readonly string[]): Promise<void> {
  const ids = await withoutOutside(cycle, asked);
  const gone = new Set(ids);
  for await (const page of recordsOf(cycle, ids)) {
    for (const record of page.records) gone.delete(sfidOf(record));
    if (page.records.length > 0) await applyPage(cycle, page, "reread", {});
  }
  if (gone.size > 0) await cycle.store.forgetGone(cycle.lease, [...gone]);
}

/** Takes the rows of those of these records out of the table that are outside of the filter; answers the others. */
export async function withoutOutside(cycle: Cycle, ids: readonly string[]): Promise<readonly string[]> {
  if (cycle.shape.filter === null) return ids;
  const outside = new Set<string>();
  for await (const page of recordsOf(cycle, ids, outsideWithIds, PAGE_SIZE)) {
    await removeRows(cycle, page);
    for (const record of page.records) outside.add(sfidOf(record));
  }
  return ids.filter((id) => !outside.has(id));
}

/** Takes the rows of living records out of the table, as if they had been deleted: they are outside of the filter now. */
export async function removeRows(
  cycle: Cycle,
  { records, readAt }: Pick<QueryPage, "records" | "readAt">,
  marks: Moved = {},
): Promise<void> {
  if (records.length + Object.keys(marks).length === 0) return;
  const images = stampsIn({ records }).map(deletedImage);
  const applied = await cycle.store.apply(cycle.lease, { images, readAt, lane: "outside", marks });
  tallyApplied(cycle.tally, images.length, applied);
}

/** The records of a page by their ids and stamps. */
export const stampsIn = ({ records }: Pick<QueryPage, "records">): readonly RecordStamp[] =>
  records.map((record) => ({ sfid: sfidOf(record), systemModstamp: stampOf(record) }));

/**
 * Records by id, deleted ones too, as they are now, or what another query by id gives. As many as a page of the mapping
 * holds cost one call; `most` is for a query of fewer fields.
 */
export async function* recordsOf(
  cycle: Cycle,
  ids: readonly string[],
  query: (shape: TableShape, ids: readonly string[]) => string = withIds,
  most = pageSizeOf(cycle.shape),
): AsyncGenerator<QueryPage> {
  for (let rest = ids; rest.length > 0; ) {
    const { asked, pages } = await inHalves(cycle, most, async (size) => {
      const some = rest.slice(0, halved(most, size));
      return { asked: some, pages: await byIds(cycle, some, (part) => query(cycle.shape, part)) };
    });
    yield* pages;
    rest = [...rest.slice(asked.length), ...cutOff(asked, pages)];
  }
}

/** One call, of a query for each 400 ids. */
async function byIds(
  cycle: Cycle,
  ids: readonly string[],
  query: (ids: readonly string[]) => string,
): Promise<QueryPage[]> {
  await cycle.hold.mayRead();
  const soqls = chunks(ids, IDS_PER_QUERY).map(query);
  return (await cycle.hold.during((within) => cycle.salesforce.queryTogether(soqls, within))).map(orThrow);
}

function orThrow(answer: QueryPage | RequestRefusal): QueryPage {
  if ("kind" in answer) throw new SalesforceRefusal(answer);
  return answer;
}

/** Wide records can make an answer end early: the ids that it had no room for. */
function cutOff(asked: readonly string[], pages: readonly QueryPage[]): string[] {
  return chunks(asked, IDS_PER_QUERY).flatMap((some, index) => {
    const page = pages[index];
    if (!page || page.complete) return [];
    const seen = new Set(page.records.map(sfidOf));
    return some.filter((id) => !seen.has(id));
  });
}
