import type { ClaimedChange } from "../../../lib/model/change/change.ts";
import type { CycleStore } from "../../../lib/sync/ports/cycle-ports.ts";
import type { BeginRequest, CycleEnd, Lease } from "../../../lib/sync/ports/lease-ports.ts";
import type { PushOutcome } from "../../../lib/sync/ports/push-ports.ts";
import { image, page } from "./customer.ts";
import { customer, sql } from "./world.ts";

export const END: CycleEnd = { marks: {}, pulledAt: null, apiCalls: {}, error: null };

export const request = (more: Partial<BeginRequest> = {}): BeginRequest => ({
  mappingId: "map_contact",
  work: "cycle",
  configVersion: 1,
  owner: "a test",
  slot: null,
  leaseSeconds: 30,
  ...more,
});

/** A cycle of this store that has nothing to do. */
export async function cycleOn(store: CycleStore, more: Partial<BeginRequest> = {}) {
  const begun = await store.begin(request(more));
  if (!begun.held) throw new Error(`the lease is not free: ${begun.why}`);
  return await store.finish(begun.lease, END);
}

/** The running cycle says nothing more, and its lease ends. */
export const loseLease = () => sql("UPDATE salesforce._bridge_state SET lease_until = now()");

export interface Cycle {
  readonly store: CycleStore;
  readonly lease: Lease;
}

export const idsOf = (changes: readonly Pick<ClaimedChange, "id">[]) => changes.map(({ id }) => id);
export const send = ({ store, lease }: Cycle, changes: readonly ClaimedChange[], batch = "batch") =>
  store.markSent(lease, batch, idsOf(changes));

/** Claims what waits, and marks it as sent. */
export async function claimAndSend(cycle: Cycle): Promise<readonly ClaimedChange[]> {
  const changes = await cycle.store.claim(cycle.lease, 10_000);
  await send(cycle, changes);
  return changes;
}

/** What Salesforce says of a change, or of those of one row that went together. */
export const refused = (of: ClaimedChange | readonly ClaimedChange[], error = "X: no"): PushOutcome => {
  const [first, ...others] = [of].flat();
  if (!first) throw new Error("nothing was claimed");
  const { id, recordId, action } = first;
  return { kind: "refused", changeIds: [id, ...idsOf(others)], recordId, action, error };
};
export function retriedIn(afterSeconds: number, { id, recordId }: ClaimedChange): PushOutcome {
  return { kind: "retry", changeIds: [id], recordId, afterSeconds, counts: true, error: "X: later" };
}

export const numbersTo = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at + 1);

/** So many rows that both sides know, and of which nothing waits. */
export async function known(count: number, valuesOf = (number: number) => ({ lastname: `L${number}` })): Promise<void> {
  const { store, lease } = await customer.cycle();
  await store.apply(lease, page(numbersTo(count).map((number) => image(number, 1, valuesOf(number)))));
  await store.finish(lease, END);
}

/** What is done while a lease has so many seconds left; done again where the machine took longer than that. */
export async function whileLeft<Answer>(seconds: number, work: BeginRequest["work"], ask: () => Promise<Answer>) {
  const table = `salesforce.${work === "cycle" ? "_bridge_state" : "_bridge_loads"}`;
  for (;;) {
    const [set] = await sql(
      `UPDATE ${table} SET lease_until = clock_timestamp() + make_interval(secs => $1), fence = fence + 1 RETURNING lease_until::text`,
      [seconds],
    );
    const answer = await ask();
    const [left] = await sql("SELECT clock_timestamp() < $1::timestamptz AS is_left", [set?.["lease_until"]]);
    if (left?.["is_left"] === seconds > 0) return answer;
  }
}
