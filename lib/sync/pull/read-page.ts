import { creationWindow } from "../../model/change/in-doubt.ts";
import type { RequestRefusal } from "../../model/change/refusal.ts";
import { SalesforceRefusal } from "../../model/change/refusal.ts";
import type { TableShape } from "../../model/mapping/shape.ts";
import { type Keyset, type PageQuery, pageSizeOf, strangersWithIds, withIds } from "../../model/mapping/soql.ts";
import { imageOf, sfidOf, stampOf } from "../../model/record/incoming.ts";
import { type Cycle, type Moved, tallyApplied } from "../cycle/cycle.ts";
import type { Applied, Page, QueryPage } from "./pull-ports.ts";

/** Records asked for by one query by id; a page of 2,000 is the five queries that one composite call takes. */
const IDS_PER_QUERY = 400;

/** A page of a query, and from where the next one goes on; null: this was the last. */
interface ReadPage extends QueryPage {
  readonly next: Keyset | null;
}

/** Reads one page. Pages go on by keyset, so no cursor has to stay open. */
export async function readPage(cycle: Cycle, { soql, limit }: PageQuery): Promise<ReadPage> {
  await cycle.hold.mayRead();
  const page = await cycle.hold.during(() => cycle.salesforce.query(soql));
  const last = page.records.at(-1);
  const isLast = last === undefined || (page.complete && page.records.length < limit);
  return { ...page, next: isLast ? null : { stamp: stampOf(last), afterId: sfidOf(last) } };
}

/** Applies a page, then reads again by id what it shows from before our last push. */
export async function applyPage(cycle: Cycle, page: QueryPage, lane: Page["lane"], marks: Moved): Promise<void> {
  const images = page.records.map((record) => imageOf(cycle.shape, record));
  await applyImages(cycle, { images, readAt: page.readAt, lane, marks });
}

/** The same with records that are images already. */
export async function applyImages(cycle: Cycle, page: Page): Promise<void> {
  const applied = await cycle.store.apply(cycle.lease, page);
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

/** Reads records by id, deleted ones too, and applies them. */
export async function readAgain(cycle: Cycle, ids: readonly string[], lane: "reread" | "slow"): Promise<void> {
  for await (const page of recordsOf(cycle, ids)) {
    if (page.records.length > 0) await applyPage(cycle, page, lane, {});
  }
}

/** Reads again what could not become a row. What Salesforce does not know any more, nobody waits for any longer. */
export async function readHeldBack(cycle: Cycle, ids: readonly string[]): Promise<void> {
  const gone = new Set(ids);
  for await (const page of recordsOf(cycle, ids)) {
    for (const record of page.records) gone.delete(sfidOf(record));
    if (page.records.length > 0) await applyPage(cycle, page, "reread", {});
  }
  if (gone.size > 0) await cycle.store.forgetGone(cycle.lease, [...gone]);
}

/** Takes the rows of living records out of the table, as if they had been deleted: they are outside of the filter now. */
export async function removeRows(
  cycle: Cycle,
  { records, readAt }: Pick<QueryPage, "records" | "readAt">,
): Promise<void> {
  if (records.length === 0) return;
  const images = records.map((record) => ({
    sfid: sfidOf(record),
    systemModstamp: stampOf(record),
    isDeleted: true,
    values: {},
  }));
  const applied = await cycle.store.apply(cycle.lease, { images, readAt, lane: "outside", marks: {} });
  tallyApplied(cycle.tally, images.length, applied);
}

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
  let rest = ids;
  while (rest.length > 0) {
    const asked = rest.slice(0, most);
    await cycle.hold.mayRead();
    const soqls = chunks(asked, IDS_PER_QUERY).map((some) => query(cycle.shape, some));
    const pages = (await cycle.hold.during(() => cycle.salesforce.queryTogether(soqls))).map(orThrow);
    yield* pages;
    rest = [...rest.slice(asked.length), ...cutOff(asked, pages)];
  }
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

function chunks<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}
