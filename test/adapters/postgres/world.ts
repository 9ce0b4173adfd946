import type { Client } from "pg";
import { beforeEach, onTestFinished } from "vitest";
import { retryFailed as retryFailedOf } from "../../../lib/adapters/postgres/operations/operations.ts";
import { createProvisioner } from "../../../lib/adapters/postgres/schema/provision.ts";
import { keepSessions } from "../../../lib/adapters/postgres/session/request-session.ts";
import type { ClaimedChange } from "../../../lib/model/change/change.ts";
import type { PostgresConnection } from "../../../lib/model/workspace/workspace.ts";
import type { CycleStore } from "../../../lib/sync/ports/cycle-ports.ts";
import type { BeginRequest, CycleEnd, Lease } from "../../../lib/sync/ports/lease-ports.ts";
import type { PushOutcome } from "../../../lib/sync/ports/push-ports.ts";
import { mappingOf } from "../../support/worlds/shapes.ts";
import { type Customer, createCustomer, image, page } from "./customer.ts";

/** The customer of the running test. */
export let customer: Customer;

/** Makes the customer of the running test, who goes with it. */
export async function aCustomer(options: Parameters<typeof createCustomer>[0] = {}): Promise<void> {
  const made = await createCustomer(options);
  onTestFinished(() => made.close());
  customer = made;
}

export const aCustomerForEachTest = (options: Parameters<typeof createCustomer>[0] = {}) =>
  beforeEach(() => aCustomer(options));

/** Rows of one statement of the application. */
export const sql: Customer["sql"] = (text, values) => customer.sql(text, values);

/** These columns of the mapped table, of the log, in the order of their ids. */
export const rows = (columns: string) => sql(`SELECT ${columns} FROM salesforce.contact ORDER BY id`);
export const log = (columns: string) => sql(`SELECT ${columns} FROM salesforce._trigger_log ORDER BY id`);
export const states = async () => (await log("state")).map(({ state }) => state);
export const lastOps = async () => (await rows("_ab_lastop")).map((row) => row["_ab_lastop"]);

export const insert = (lastname: string) => sql("INSERT INTO salesforce.contact (lastname) VALUES ($1)", [lastname]);

/** So many new rows, L1, L2, and so on. */
export const insertMany = (count: number) =>
  sql("INSERT INTO salesforce.contact (lastname) SELECT 'L' || i FROM generate_series(1, $1::int) i", [count]);

/** A transaction of another session of the application that has done this and is open. */
export async function transaction(...statements: readonly string[]): Promise<Client> {
  const user = await customer.connect();
  for (const statement of ["BEGIN", ...statements]) await user.query(statement);
  return user;
}

export const laterBy = (seconds: number) => {
  customer.now = new Date(customer.now.getTime() + seconds * 1000);
};

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

export const connection = () => ({ url: customer.url, schema: "salesforce" });

/** The daily check of the mapping, with such a setting of the workspace. */
export const dailyCheck = (more: Partial<PostgresConnection> = {}) =>
  createProvisioner({ ...connection(), ...more }, () => customer.now).migrate(mappingOf(customer.shape));

/** The session that requests have. */
export const kept = () => keepSessions(() => customer.now).take(connection());
export const retryFailed = (ids: readonly number[]) => retryFailedOf(kept(), "salesforce", "map_contact", ids);

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
