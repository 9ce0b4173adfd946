import { sfidOf } from "../model/incoming.ts";
import type { Mapping } from "../model/mapping.ts";
import { OVERLAP_SECONDS } from "../model/position.ts";
import { allAfter } from "../model/soql.ts";
import { type Cycle, newTally, type Tally } from "./cycle.ts";
import { holdLease, LEASE_SECONDS, untilItEnds } from "./hold-lease.ts";
import type { LoadMark } from "./ports.ts";
import { applyPage, readPage } from "./read-page.ts";
import type { CycleNeeds } from "./run-cycle.ts";

/** What one piece of a first load is asked to do. */
export interface LoadOrder {
  readonly mapping: Mapping;
  /** Id of the Salesforce user that we write as. */
  readonly userId: () => Promise<string>;
  readonly owner: string;
  /** Epoch milliseconds when the invocation ends. */
  readonly deadline: number;
}

/** `done`: nothing is left; `more`: another invocation takes it up; `busy`: somebody else is at it. */
export interface LoadReport {
  readonly outcome: "done" | "more" | "busy" | "stale";
  readonly tally: Tally;
}

/**
 * The first load: every record in the order of ids, beside the beat and under a lease of its own. Each page commits
 * where the next one starts, so that any later invocation goes on. What changes meanwhile is the fast lane's, which
 * starts where the load did. An engine-level error rejects, after it was written down.
 */
export async function loadMapping(needs: CycleNeeds, order: LoadOrder): Promise<LoadReport> {
  const { id: mappingId, configVersion } = order.mapping;
  const asked = { mappingId, work: "load", configVersion, owner: order.owner, slot: null } as const;
  const begun = await needs.store.begin({ ...asked, leaseSeconds: LEASE_SECONDS });
  const tally = newTally();
  if (!begun.held) return { outcome: begun.why === "running" ? "busy" : "stale", tally };

  const { lease, shape, marks } = begun;
  const hold = holdLease(needs.store, lease, needs.clock, order.deadline);
  const cycle: Cycle = { ...needs, mapping: order.mapping, userId: order.userId, lease, shape, hold, tally };
  const end = await untilItEnds(async () => {
    if (marks.position === null) await loadPages(cycle, marks.load);
  });
  if (end.stopped === "lost") return { outcome: "stale", tally };
  const error = end.error === null ? null : String(end.error);
  await needs.store.finish(lease, { marks: {}, pulledAt: null, apiCalls: needs.salesforce.calls(), error });
  if (end.error !== null) throw end.error;
  return { outcome: end.stopped === null ? "done" : "more", tally };
}

async function loadPages(cycle: Cycle, mark: LoadMark | null): Promise<void> {
  for (let { startedAt, afterId } = mark ?? { startedAt: null, afterId: null }; ; ) {
    const page = await readPage(cycle, allAfter(cycle.shape, afterId));
    startedAt ??= page.readAt;
    const last = page.records.at(-1);
    afterId = last ? sfidOf(last) : afterId;
    await applyPage(cycle, page, "load", page.next ? { load: { startedAt, afterId } } : ended(startedAt));
    if (!page.next) return;
  }
}

function ended(startedAt: Date) {
  const position = new Date(startedAt.getTime() - OVERLAP_SECONDS * 1000);
  return { load: null, position, deleted: position };
}
