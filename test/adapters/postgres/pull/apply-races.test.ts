import type { Client } from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { firstInGate, longTest } from "../../../support/run/whole-grid.ts";
import {
  type Customer,
  createCustomer,
  image,
  orgTime,
  page,
  pushAll,
  sfidOf,
  untilSomebodyWaits,
} from "../customer.ts";

let customer: Customer;
beforeEach(async () => {
  customer = await createCustomer();
});
afterEach(() => customer.close());

const contacts = () => customer.sql("SELECT sfid, lastname, email FROM salesforce.contact ORDER BY id");
const waiting = () =>
  customer.sql('SELECT action, "values" FROM salesforce._trigger_log WHERE processed_at IS NULL ORDER BY id');

/** A row for record 1 that both sides know. */
async function knownRow() {
  const { store, lease } = await customer.cycle();
  await store.apply(lease, page([image(1, 1, { lastname: "Curie", email: "old@example.com" })]));
  await store.finish(lease, { marks: {}, pulledAt: null, apiCalls: {}, error: null });
}

/** Statements that applying a page to one known row makes: one before it locks any, and those after its opening. */
const STEPS = [0, 1, 2, 3] as const;

describe.each(STEPS)("a user's transaction that begins before step %i of a page", (step) => {
  test("and ends during it loses nothing", async () => {
    await knownRow();
    const user = await customer.connect();
    let statements = 0;
    let edit: Promise<unknown> = Promise.resolve();
    const { store, lease } = await customer.cycle({
      before: async () => {
        if (statements++ !== step + 1) return; // the first statement is that of the lease
        edit = editInTransaction(user, customer.application);
        await Promise.race([edit, untilBlockedOrIdle(user)]);
      },
    });

    const applied = await store.apply(lease, page([image(1, 2, { lastname: "Sklodowska", email: "old@example.com" })]));
    await edit;

    expect(statements).toBeGreaterThan(step + 1);
    expect(applied.updated).toBe(1);
    expect(await contacts()).toEqual([{ sfid: sfidOf(1), lastname: "Sklodowska", email: "user@example.com" }]);
    expect(await waiting()).toEqual([{ action: "UPDATE", values: { email: "user@example.com" } }]);
  });
});

/** Holds the edited row until another session waits for it, or commits at once when it had to wait itself. */
async function editInTransaction(user: Client, observer: Client): Promise<void> {
  await user.query("BEGIN");
  await user.query("UPDATE salesforce.contact SET email = 'user@example.com'");
  const hadToWait =
    (await observer.query("SELECT FROM salesforce.contact WHERE lastname = 'Sklodowska'")).rows.length > 0;
  if (!hadToWait) await untilSomebodyWaits(observer);
  await user.query("COMMIT");
}

/** Resolves when the user's statement waits for a lock of ours, or its transaction holds one. */
async function untilBlockedOrIdle(user: Client): Promise<void> {
  const observer = await customer.connect();
  for (;;) {
    const { rows } = await observer.query(
      "SELECT FROM pg_stat_activity WHERE pid = $1 AND (wait_event_type = 'Lock' OR state = 'idle in transaction') AND query LIKE 'UPDATE%'",
      [(user as Client & { processID: number }).processID],
    );
    if (rows.length > 0) return;
  }
}

test("a row that a transaction holds for long is left for later, and the rest of its page arrives", async () => {
  await knownRow();
  const user = await customer.connect();
  await user.query("BEGIN");
  await user.query("UPDATE salesforce.contact SET email = 'user@example.com'");
  const { store, lease } = await customer.cycle();
  const records = [image(1, 2, { lastname: "Sklodowska" }), image(2, 2, { lastname: "Noether" })];

  const applied = await store.apply(lease, page(records, { marks: { position: orgTime(60) } }));
  const kept = await customer.sql("SELECT sfid, sqlstate, retry_at FROM salesforce._bridge_inbound_errors");
  await user.query("COMMIT");
  customer.now = new Date(customer.now.getTime() + 10_000);
  await store.finish(lease, { marks: {}, pulledAt: null, apiCalls: {}, error: null });
  const { store: next, lease: nextLease, begun } = await customer.cycle();
  await next.apply(nextLease, page([image(1, 2, { lastname: "Sklodowska" })], { lane: "reread" }));

  expect(applied).toMatchObject({ inserted: 1, rejected: 1 });
  expect(kept).toEqual([{ sfid: sfidOf(1), sqlstate: "55P03", retry_at: new Date("2026-11-20T12:00:10Z") }]);
  expect(begun.rereads).toEqual([sfidOf(1)]);
  expect(await customer.sql("SELECT FROM salesforce._bridge_inbound_errors")).toEqual([]);
  expect(await contacts()).toEqual([
    { sfid: sfidOf(1), lastname: "Sklodowska", email: "user@example.com" },
    { sfid: sfidOf(2), lastname: "Noether", email: null },
  ]);
});

test("a change of a row that a transaction holds is not sent before the record has met it, and then the policy decides", async () => {
  await knownRow();
  await customer.sql("UPDATE salesforce.contact SET email = 'sent@example.com'");
  const user = await customer.connect();
  await user.query("BEGIN");
  await user.query("UPDATE salesforce.contact SET lastname = 'Sklodowska'");
  const { store, lease } = await customer.cycle();
  const theirs = image(1, 2, { lastname: "Curie", email: "theirs@example.com" });

  await store.apply(lease, page([theirs]));
  const meanwhile = await pushAll({ store, lease }, () => null, orgTime(10));
  await user.query("COMMIT");
  await store.apply(lease, page([theirs], { lane: "reread" }));
  const pushed = await pushAll({ store, lease }, () => null, orgTime(20));

  expect(meanwhile).toEqual([]);
  expect(pushed).toMatchObject([{ action: "UPDATE", values: { lastname: "Sklodowska" } }]);
  expect(await contacts()).toEqual([{ sfid: sfidOf(1), lastname: "Sklodowska", email: "theirs@example.com" }]);
});

test("a row that is deleted while its record is read does not come back", async () => {
  await knownRow();
  await customer.sql("DELETE FROM salesforce.contact");
  const { store, lease } = await customer.cycle();

  const same = await store.apply(lease, page([image(1, 1, { lastname: "Curie", email: "old@example.com" })]));
  const pushed = await pushAll({ store, lease }, () => null, orgTime(10));
  const older = await store.apply(
    lease,
    page([image(1, 1, { lastname: "Curie" })], { readAt: orgTime(9), lane: "load" }),
  );

  expect(same).toMatchObject({ inserted: 0, unchanged: 1 });
  expect(pushed).toMatchObject([{ action: "DELETE", sfid: sfidOf(1), old: { lastname: "Curie" } }]);
  expect(older).toMatchObject({ inserted: 0, reread: [sfidOf(1)] });
  expect(await contacts()).toEqual([]);
});

test("a Bulk image older than a push does not undo it, and its record is read again", async () => {
  await knownRow();
  await customer.sql("UPDATE salesforce.contact SET lastname = 'Sklodowska'");
  const { store, lease } = await customer.cycle();
  await pushAll({ store, lease }, () => null, orgTime(30));
  const stale = page([image(1, 1, { lastname: "Curie" })], { lane: "load", readAt: orgTime(20) });

  const applied = await store.apply(lease, stale);
  const fresh = await store.apply(
    lease,
    page([image(1, 30, { lastname: "Sklodowska" })], { lane: "reread", readAt: orgTime(31) }),
  );

  expect(applied).toMatchObject({ updated: 0, reread: [sfidOf(1)] });
  expect(fresh).toMatchObject({ updated: 0, unchanged: 1, reread: [] });
  expect(await contacts()).toMatchObject([{ lastname: "Sklodowska" }]);
});

test("two writes in one second both arrive in the fast lane; from Bulk the second is read again", async () => {
  const { store, lease } = await customer.cycle();
  await store.apply(lease, page([image(1, 1, { lastname: "first" }), image(2, 1, { lastname: "first" })]));

  const fast = await store.apply(lease, page([image(1, 1, { lastname: "second" })]));
  const bulk = await store.apply(lease, page([image(2, 1, { lastname: "second" })], { lane: "load" }));
  const late = await store.apply(
    lease,
    page([image(2, 1, { lastname: "second" })], { lane: "sweep", readAt: orgTime(3_600) }),
  );

  expect(fast).toMatchObject({ updated: 1 });
  expect(bulk).toMatchObject({ updated: 0, reread: [sfidOf(2)] });
  expect(late).toMatchObject({ updated: 1, reread: [] });
});

test("an image that is older than the row changes nothing, and its record is read again", async () => {
  const { store, lease } = await customer.cycle();
  await store.apply(lease, page([image(1, 5, { lastname: "new" })]));

  const applied = await store.apply(lease, page([image(1, 4, { lastname: "old" })]));

  expect(applied).toMatchObject({ updated: 0, reread: [sfidOf(1)] });
  expect(await contacts()).toMatchObject([{ lastname: "new" }]);
});

test("a record that a page holds twice is applied as it was last", async () => {
  const { store, lease } = await customer.cycle();

  const applied = await store.apply(lease, page([image(1, 1, { lastname: "old" }), image(1, 2, { lastname: "new" })]));

  expect(applied).toMatchObject({ inserted: 1 });
  expect(await contacts()).toMatchObject([{ lastname: "new" }]);
});

test("a record read after its deletion was applied does not come back unless it was undeleted", async () => {
  const { store, lease } = await customer.cycle();
  await store.apply(lease, page([image(1, 1, { lastname: "Curie" })]));
  await store.apply(lease, page([image(1, 5, {}, true)], { lane: "deleted" }));

  const stale = await store.apply(lease, page([image(1, 1, { lastname: "Curie" })], { lane: "load" }));
  const undeleted = await store.apply(lease, page([image(1, 9, { lastname: "Curie" })]));

  expect(stale).toMatchObject({ inserted: 0, reread: [sfidOf(1)] });
  expect(undeleted).toMatchObject({ inserted: 1 });
});

test("a record that may be an insert under way gets no second row, and another user's record gets its row at once", async () => {
  await customer.sql("INSERT INTO salesforce.contact (lastname, email) VALUES ('Curie', 'm@example.com')");
  const { store, lease } = await customer.cycle();
  const [change] = await store.claim(lease, 1);
  const id = Number(change?.id);
  await store.markSent(lease, "batch", [id]);

  const records = [
    image(1, 1, { lastname: "Curie", email: "m@example.com", name: "Curie" }),
    image(2, 1, { lastname: "Other" }),
  ];
  const applied = await store.apply(lease, page(records));
  const strangers = await store.apply(lease, { ...page(records.slice(1)), lane: "reread", areStrangers: true });
  await store.settle(lease, [
    { kind: "accepted", changeIds: [id], recordId: 1, action: "INSERT", sfid: sfidOf(1), answeredAt: orgTime(2) },
  ]);
  await store.apply(lease, page(records));

  expect(applied).toMatchObject({ inserted: 0, suspects: { sfids: [sfidOf(1), sfidOf(2)] } });
  expect(strangers).toMatchObject({ inserted: 1, suspects: null });
  expect(await contacts()).toEqual([
    { sfid: sfidOf(1), lastname: "Curie", email: "m@example.com" },
    { sfid: sfidOf(2), lastname: "Other", email: null },
  ]);
});

test("a record that a pull made a row of before its insert was answered ends with one row", async () => {
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('curie')");
  const { store, lease } = await customer.cycle();
  const [change] = await store.claim(lease, 1);
  await store.markSent(lease, "batch", [Number(change?.id)]);
  await store.apply(lease, page([image(1, 1, { lastname: "CURIE by automation" })]));

  await store.settle(lease, [
    {
      kind: "accepted",
      changeIds: [Number(change?.id)],
      recordId: 1,
      action: "INSERT",
      sfid: sfidOf(1),
      answeredAt: orgTime(2),
    },
  ]);

  expect(await customer.sql("SELECT id::int, sfid, _ab_lastop FROM salesforce.contact")).toEqual([
    { id: 1, sfid: sfidOf(1), _ab_lastop: "INSERTED" },
  ]);
});

longTest(
  "a table that is locked as a whole, as while an index is created, sets no record aside: the page comes again",
  async () => {
    await knownRow();
    const user = await customer.connect();
    await user.query("BEGIN");
    await user.query("LOCK TABLE salesforce.contact IN SHARE MODE");
    const { store, lease } = await customer.cycle();
    const changed = page([image(1, 2, { lastname: "Sklodowska" }), image(2, 2, { lastname: "Noether" })]);

    await expect(store.apply(lease, changed)).rejects.toMatchObject({ code: "55P03" });
    const meanwhile = await customer.sql("SELECT lastname FROM salesforce.contact");
    await user.query("COMMIT");
    const applied = await store.apply(lease, changed);

    expect(meanwhile).toEqual([{ lastname: "Curie" }]);
    expect(await customer.sql("SELECT FROM salesforce._bridge_inbound_errors")).toEqual([]);
    expect(applied).toMatchObject({ updated: 1, inserted: 1 });
  },
);

longTest(
  "a record whose value a transaction has locked and not committed is read again in ten seconds, alone",
  async () => {
    await customer.sql("CREATE UNIQUE INDEX ON salesforce.contact (email)");
    const user = await customer.connect();
    await user.query("BEGIN");
    await user.query("INSERT INTO salesforce.contact (email) VALUES ('one@example.com')");
    const { store, lease } = await customer.cycle();
    const records = [image(1, 2, { email: "one@example.com" }), image(2, 2, { email: "two@example.com" })];

    const applied = await store.apply(lease, page(records));
    await user.query("ROLLBACK");

    expect(applied).toMatchObject({ inserted: 1, rejected: 1 });
    expect(await customer.sql("SELECT sfid, sqlstate, retry_at FROM salesforce._bridge_inbound_errors")).toEqual([
      { sfid: sfidOf(1), sqlstate: "55P03", retry_at: new Date("2026-11-20T12:00:10Z") },
    ]);
  },
);

test.each(
  firstInGate(1, [
    ["one among five hundred records is found in a few transactions", 500, (n: number) => n === 371, 20],
    ["ten of them in a few for each", 500, (n: number) => n % 50 === 7, 100],
    ["every second record in less than two for each record", 100, (n: number) => n % 2 === 0, 130],
    ["a page of nothing else in hardly more than one for each", 100, () => true, 108],
  ] as const),
)("a value that a column refuses: %s", async (_, count, isBad, most) => {
  await customer.sql("ALTER TABLE salesforce.contact ADD CHECK (lastname <> 'forbidden')");
  let transactions = 0;
  const { store, lease } = await customer.cycle({
    before: async (statement) => {
      if (/FOR UPDATE/.test(statement)) transactions += 1;
    },
  });
  const records = Array.from({ length: count }, (_, n) => image(n, 1, { lastname: isBad(n) ? "forbidden" : `L${n}` }));
  const bad = records.filter((_, n) => isBad(n)).length;

  const applied = await store.apply(lease, page(records));

  expect(applied).toMatchObject({ inserted: count - bad, rejected: bad });
  expect(transactions).toBeLessThanOrEqual(most);
});

test("a value that a column refuses leaves its record alone aside, and the rest of its page arrives", async () => {
  await customer.sql("ALTER TABLE salesforce.contact ADD CHECK (lastname <> 'forbidden')");
  const { store, lease } = await customer.cycle();
  const records = Array.from({ length: 20 }, (_, index) => image(index, 1, { lastname: `L${index}` }));
  records[3] = image(3, 1, { lastname: "nul\u0000" });
  records[11] = image(11, 1, { lastname: "forbidden" });
  records[17] = image(17, 1, { lastname: "x".repeat(81) });

  const applied = await store.apply(lease, page(records, { marks: { position: orgTime(60) } }));
  const errors = await customer.sql("SELECT sfid, sqlstate FROM salesforce._bridge_inbound_errors ORDER BY sfid");
  await store.apply(lease, page([image(11, 2, { lastname: "allowed" })]));

  expect(applied).toMatchObject({ inserted: 17, rejected: 3 });
  expect(errors).toEqual([
    { sfid: sfidOf(3), sqlstate: "22021" },
    { sfid: sfidOf(11), sqlstate: "23514" },
    { sfid: sfidOf(17), sqlstate: "22001" },
  ]);
  expect(await customer.sql("SELECT sfid FROM salesforce._bridge_inbound_errors ORDER BY sfid")).toEqual([
    { sfid: sfidOf(3) },
    { sfid: sfidOf(17) },
  ]);
  expect(await customer.sql("SELECT position FROM salesforce._bridge_state")).toEqual([{ position: orgTime(60) }]);
});

test("a kill between the pieces of a refused page leaves the marks where they were, so that all of it comes again", async () => {
  await customer.sql("ALTER TABLE salesforce.contact ADD CHECK (lastname <> 'forbidden')");
  await customer.sql("UPDATE salesforce._bridge_state SET position = $1", [orgTime(0)]);
  const records = Array.from({ length: 8 }, (_, n) => image(n, 1, { lastname: n === 7 ? "forbidden" : `L${n}` }));
  const refused = page(records, { marks: { position: orgTime(60) } });
  const position = () => customer.sql("SELECT position FROM salesforce._bridge_state");
  let inserts = 0;
  const killed = await customer.cycle({
    before: async (statement) => {
      if (/^INSERT INTO "?salesforce"?."?contact"? /.test(statement)) inserts += 1;
      if (inserts > 2) throw new Error("killed"); // the whole page, its first half; then the host is gone
    },
  });

  await expect(killed.store.apply(killed.lease, refused)).rejects.toThrow("killed");
  await killed.store.close();

  expect(await contacts()).toHaveLength(4);
  expect(await position()).toEqual([{ position: orgTime(0) }]);
  await customer.sql("UPDATE salesforce._bridge_state SET lease_until = now()");
  const { store, lease } = await customer.cycle();
  expect(await store.apply(lease, refused)).toMatchObject({ inserted: 3, unchanged: 4, rejected: 1 });
  expect(await contacts()).toHaveLength(7);
  expect(await position()).toEqual([{ position: orgTime(60) }]);
});

describe("with an upsert field", () => {
  beforeEach(() => customer.provision({ configVersion: 2, upsertField: "Key__c" }));

  test("a record finds the row that waits for it", async () => {
    await customer.sql("INSERT INTO salesforce.contact (key__c, lastname) VALUES ('K', 'Curie')");
    const { store, lease } = await customer.cycle();

    const applied = await store.apply(
      lease,
      page([image(1, 1, { key__c: "K", lastname: "Curie", email: "sf@example.com" })]),
    );
    const [change] = await store.claim(lease, 1);

    expect(applied).toMatchObject({ inserted: 0, updated: 1 });
    expect(await customer.sql("SELECT sfid, email, _ab_lastop FROM salesforce.contact")).toEqual([
      { sfid: sfidOf(1), email: "sf@example.com", _ab_lastop: "PENDING" },
    ]);
    expect(change).toMatchObject({ action: "INSERT", sfid: sfidOf(1) });
  });

  test("a row deleted and another inserted with one value stay two changes, in their order", async () => {
    const { store, lease } = await customer.cycle();
    await store.apply(lease, page([image(1, 1, { key__c: "K", lastname: "Curie" })]));
    await customer.sql("DELETE FROM salesforce.contact");
    await customer.sql("INSERT INTO salesforce.contact (key__c, lastname) VALUES ('K', 'Noether')");

    const applied = await store.apply(lease, page([image(1, 2, { key__c: "K", lastname: "Sklodowska" })]));
    const changes = await store.claim(lease, 10);

    expect(applied).toMatchObject({ inserted: 0, updated: 0, unchanged: 1 });
    expect(changes).toMatchObject([
      { action: "DELETE", sfid: sfidOf(1), recordId: 1, old: { key__c: "K" } },
      { action: "INSERT", sfid: null, recordId: 2, values: { key__c: "K", lastname: "Noether" } },
    ]);
    expect(await contacts()).toMatchObject([{ sfid: null, lastname: "Noether" }]);
  });

  test("values that go round among records in one page go round among their rows, others come along", async () => {
    const { store, lease } = await customer.cycle();
    const named = (number: number, key: string, seconds: number) =>
      image(number, seconds, { key__c: key, lastname: `${number} has ${key}` });
    await store.apply(
      lease,
      page([named(1, "A", 1), named(2, "B", 1), named(3, "C", 1), named(4, "D", 1), named(5, "E", 1)]),
    );

    const applied = await store.apply(
      lease,
      page([
        named(1, "B", 2),
        named(2, "A", 2),
        named(3, "D", 2),
        named(4, "E", 2),
        named(5, "C", 2),
        named(6, "F", 2),
      ]),
    );

    expect(applied).toMatchObject({ updated: 5, inserted: 1, rejected: 0 });
    expect(await customer.sql("SELECT key__c, lastname FROM salesforce.contact ORDER BY sfid")).toEqual(
      ["B", "A", "D", "E", "C", "F"].map((key, index) => ({ key__c: key, lastname: `${index + 1} has ${key}` })),
    );
    expect(await customer.sql("SELECT FROM salesforce._trigger_log")).toEqual([]);
    expect(await customer.sql("SELECT FROM salesforce._bridge_inbound_errors")).toEqual([]);
  });

  longTest("a value that moves from one record to another in one page moves between their rows", async () => {
    const { store, lease } = await customer.cycle();
    await store.apply(lease, page([image(1, 1, { key__c: "K", lastname: "Curie" })]));

    const applied = await store.apply(
      lease,
      page([image(2, 2, { key__c: "K", lastname: "Noether" }), image(1, 2, { key__c: null, lastname: "Curie" })]),
    );

    expect(applied).toMatchObject({ inserted: 1, updated: 1, rejected: 0 });
  });

  test("a record that is another row already is reported, and that row stays", async () => {
    const { store, lease } = await customer.cycle();
    await store.apply(lease, page([image(1, 1, { lastname: "Curie" })]));
    await customer.sql("INSERT INTO salesforce.contact (key__c, lastname) VALUES ('K', 'Curie')");

    await pushAll({ store, lease }, () => sfidOf(1), orgTime(2));

    expect(await customer.sql("SELECT sfid, _ab_lastop, _ab_err FROM salesforce.contact ORDER BY id")).toEqual([
      { sfid: sfidOf(1), _ab_lastop: "SYNCED", _ab_err: null },
      {
        sfid: null,
        _ab_lastop: "FAILED",
        _ab_err: `DUPLICATE_ROW: Salesforce record ${sfidOf(1)} is row 1 of contact already`,
      },
    ]);
    expect(await store.outbox(10)).toMatchObject([{ event: "record.failed" }]);
  });
});
