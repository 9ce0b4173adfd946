import { expect, test } from "vitest";
import { postgresMonitoring } from "../../../../lib/adapters/postgres/operations/monitoring.ts";
import type { IdleBeats } from "../../../../lib/sync/ports/lease-ports.ts";
import { END, request, whileLeft } from "../cycles.ts";
import { aCustomerForEachTest, connection, customer, laterBy, sql, transaction } from "../world.ts";

aCustomerForEachTest();

const beats = (more: Partial<IdleBeats> = {}): IdleBeats => ({
  slot: 110,
  beats: [{ mappingId: "map_contact", configVersion: 1 }],
  unchanged: null,
  ...more,
});

async function state() {
  const [row] = await sql(
    "SELECT fence::int, lease_until, slot::int, last_run_at, last_pull_at, last_error FROM salesforce._bridge_state",
  );
  return row;
}

async function isIdle() {
  const store = await customer.store();
  const [state] = await store.syncStates(["map_contact"]);
  return state?.isIdle;
}

test("an idle beat costs two statements beside the count of a half minute, and counts as a cycle that ended well", async () => {
  let statements = 0;
  const store = await customer.store(async () => void statements++);
  const before = await state();

  const found = await store.syncStates(["map_contact", "map_of_nobody"]);
  const ended = await store.endIdle(beats());

  expect(statements).toBe(3);
  expect(found).toMatchObject([{ mappingId: "map_contact", isIdle: true, heldDeletes: 0 }]);
  expect([...ended]).toMatchObject([["map_contact", { rowsSynced: 0, rowsFailed: 0, queueDepth: 0 }]]);
  expect(await state()).toEqual({ ...before, slot: 110, last_run_at: customer.now });
  expect(await sql("SELECT well, failed, stopped FROM salesforce._bridge_cycles")).toEqual([
    { well: 1, failed: 0, stopped: 0 },
  ]);
  expect(await store.begin(request({ slot: 110 }))).toEqual({ held: false, why: "slot taken" });
});

/** Writes one row into a table of ours. */
const row = (table: string, values: Readonly<Record<string, string>>) =>
  `INSERT INTO salesforce.${table} (${Object.keys(values).join(", ")}) VALUES (${Object.values(values).join(", ")})`;
const change = (more: Readonly<Record<string, string>>) =>
  row("_trigger_log", { action: "'UPDATE'", table_name: "'contact'", record_id: "1", ...more });
const ofRecord = { mapping_id: "'map_contact'", sfid: "'x'" };
const SETTLED = { state: "'SUCCESS'", last_operation: "'UPDATED'", processed_at: "now()" };
const NOW = "'2026-11-20T12:00:00Z'";
const OLD = "'2026-10-01'";
const error = { error: "'held'", first_at: "now()", last_at: "now()" };
const held = { stamp: "now()", read_at: "now()", held_at: "now()" };

test.each([
  ["a change waits", "INSERT INTO salesforce.contact (lastname) VALUES ('Curie')"],
  ["a retry has become due", change({ due_at: NOW })],
  ["a claim was lost", row("_bridge_in_hand", { id: "'x'", table_name: "'contact'", ids: "'{1}'" })],
  ["a result was not written back", change({ ...SETTLED, row_owed: "true" })],
  ["a confirmed delete waits", row("_bridge_held_deletes", { ...ofRecord, ...held, confirmed: "true" })],
  ["a record must be read again", row("_bridge_inbound_errors", { ...ofRecord, ...error, retry_at: NOW })],
  ["an event waits to leave", row("_bridge_outbox", { event: "'record.failed'", detail: "'{}'" })],
  ["a trigger is disabled", "ALTER TABLE salesforce.contact DISABLE TRIGGER _bridge_insert"],
  ["a trigger is gone", "DROP TRIGGER _bridge_delete ON salesforce.contact"],
  ["a column was renamed", "ALTER TABLE salesforce.contact RENAME COLUMN lastname TO surname"],
  ["the table is gone", "DROP TABLE salesforce.contact CASCADE"],
  ["an error must be removed", "UPDATE salesforce._bridge_state SET last_error = 'x'"],
  ["a spike has not ended", "UPDATE salesforce._bridge_state SET running_failed = 10"],
  ["the log holds what is old enough to go", change({ ...SETTLED, processed_at: OLD })],
  [
    "a conflict is old enough to go",
    row("_bridge_conflicts", { ...ofRecord, record_id: "1", winner: "'postgres'", at: OLD }),
  ],
  [
    "a tombstone is old enough to go",
    row("_bridge_tombstones", { ...ofRecord, record_id: "1", reason: "'x'", by_salesforce: "true", deleted_at: OLD }),
  ],
])("a beat is not idle where %s", async (_, prepare) => {
  expect(await isIdle()).toBe(true);
  await sql(prepare);

  expect(await isIdle()).toBe(false);
});

test.each([
  ["a retry is not due yet", change({ due_at: "'2026-11-20T12:00:01Z'" })],
  ["a delete is held", change({ action: "'DELETE'", sfid: "'x'", held: "true" })],
])("a beat is idle where %s", async (_, prepare) => {
  await sql(prepare);

  expect(await isIdle()).toBe(true);
});

test.each([
  [1, 1],
  [10_001, 10_000],
])(
  "of %i held deletes %i are counted at a beat, so that they are reported though nothing else happens",
  async (held, counted) => {
    await sql(
      "INSERT INTO salesforce._trigger_log (action, table_name, record_id, sfid, held) SELECT 'DELETE', 'contact', i, 'x' || i, true FROM generate_series(1, $1) i",
      [held],
    );
    const store = await customer.store();

    expect(await store.syncStates(["map_contact"])).toMatchObject([{ heldDeletes: counted }]);
  },
);

test("a running cycle, a slot that is used and another configuration are left alone", async () => {
  const running = await customer.cycle();
  await sql("UPDATE salesforce._bridge_state SET last_error = 'x'");
  const store = await customer.store();
  const before = await state();

  expect(await store.endIdle(beats())).toEqual(new Map());
  await running.store.finish(running.lease, END);
  const after = await state();
  expect(await store.endIdle(beats({ beats: [{ mappingId: "map_contact", configVersion: 2 }] }))).toEqual(new Map());
  expect((await store.endIdle(beats())).size).toBe(1);
  expect(await store.endIdle(beats())).toEqual(new Map());

  expect([before?.["slot"], after?.["last_error"]]).toEqual([null, null]);
  expect(await state()).toEqual({ ...after, slot: 110 });
});

test("a beat need not be noted within a minute of the last one, and the next counts with those between", async () => {
  const store = await customer.store();
  const began = customer.now.getTime();
  const noted = async (seconds: number) => {
    customer.now = new Date(began + seconds * 1000);
    return (await store.syncStates(["map_contact"]))[0]?.noted;
  };
  expect(await noted(0)).toBeNull();
  await store.endIdle(beats());

  expect(await noted(54.9)).toEqual({ configVersion: 1, rowsSynced: 0, rowsFailed: 0, apiCalls: {} });
  expect(await noted(55)).toBeNull();
  await store.endIdle(beats({ slot: 170 }));

  const well = async () => (await sql("SELECT sum(well)::int AS well FROM salesforce._bridge_cycles"))[0]?.["well"];
  expect(await well()).toBe(7);
  await sql("UPDATE salesforce._bridge_state SET lease_until = now() + interval '1 minute'");
  expect(await noted(55)).toBeNull();

  // Of beats that were missing for an hour a minute is counted at the most.
  await sql("UPDATE salesforce._bridge_state SET lease_until = NULL");
  laterBy(3_600);
  await store.endIdle(beats({ slot: 3710 }));
  expect(await well()).toBe(13);
});

test("a cycle whose lease is old is left alone and can be aborted, until the lease has ended", async () => {
  const store = await customer.store();
  const database = await postgresMonitoring(() => customer.now).open(connection());
  const left = <Answer>(seconds: number, ask: () => Promise<Answer>) => whileLeft(seconds, "cycle", ask);

  for (const seconds of [20, 5, 1]) {
    expect(await left(seconds, () => store.endIdle(beats()))).toEqual(new Map());
    expect(await left(seconds, () => database.leaseOf("map_contact"))).toMatchObject({ isHeld: true });
    expect(await left(seconds, () => database.requestAbort("map_contact", customer.now))).toBe(true);
  }
  expect(await left(-0.001, () => database.leaseOf("map_contact"))).toMatchObject({ isHeld: false });
  expect(await left(-0.001, () => database.requestAbort("map_contact", customer.now))).toBe(false);
  expect((await left(-0.001, () => store.endIdle(beats()))).size).toBe(1);
});

test("a locked row is not waited for", async () => {
  const store = await customer.store();
  const holder = await transaction("SELECT FROM salesforce._bridge_state FOR UPDATE");

  expect(await store.endIdle(beats())).toEqual(new Map());
  await holder.query("ROLLBACK");
});

test("what a probe saw unchanged counts as pulled, and an older probe moves nothing back", async () => {
  await sql("UPDATE salesforce._bridge_state SET position = now(), last_pull_at = '2026-11-20T11:00:00Z'");
  const store = await customer.store();
  const seen = (at: string) => ({ unchanged: { mappingIds: ["map_contact"], at: new Date(at) } });

  await store.endIdle(beats(seen("2026-11-20T11:59:00Z")));
  await store.endIdle(beats({ slot: 120, ...seen("2026-11-20T11:58:00Z") }));

  expect((await state())?.["last_pull_at"]).toEqual(new Date("2026-11-20T11:59:00Z"));
});
