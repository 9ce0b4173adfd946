import type { Client } from "pg";
import { expect, test } from "vitest";
import { image, orgTime, page, pushAll, sfidOf, untilSomebodyWaits } from "../customer.ts";
import { END, known, loseLease, numbersTo } from "../cycles.ts";
import { aCustomerForEachTest, customer, rows, sql, transaction } from "../world.ts";

aCustomerForEachTest();

const contacts = () => rows("sfid, lastname, email");
const inboundErrors = (columns: string) =>
  sql(`SELECT ${columns} FROM salesforce._bridge_inbound_errors ORDER BY sfid`);
const position = async () => (await sql("SELECT position FROM salesforce._bridge_state"))[0]?.["position"];

const knownRow = () => known(1, () => ({ lastname: "Curie", email: "old@example.com" }));

// The statements that applying a page to one known row makes: one before it locks any, and those after its opening.
test.each([0, 1, 2, 3])(
  "a user's transaction that begins before step %i of a page and ends during it loses nothing",
  async (step) => {
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
    expect(await sql('SELECT action, "values" FROM salesforce._trigger_log WHERE processed_at IS NULL')).toEqual([
      { action: "UPDATE", values: { email: "user@example.com" } },
    ]);
  },
);

/** Holds the edited row until another session waits for it, or commits at once when it had to wait itself. */
async function editInTransaction(user: Client, observer: Client): Promise<void> {
  await user.query("BEGIN");
  await user.query("UPDATE salesforce.contact SET email = 'user@example.com'");
  const { rowCount } = await observer.query("SELECT FROM salesforce.contact WHERE lastname = 'Sklodowska'");
  if (rowCount === 0) await untilSomebodyWaits(observer);
  await user.query("COMMIT");
}

/** Resolves when the user's statement waits for a lock of ours, or its transaction holds one. */
async function untilBlockedOrIdle(user: Client): Promise<void> {
  const observer = await customer.connect();
  for (;;) {
    const { rowCount } = await observer.query(
      "SELECT FROM pg_stat_activity WHERE pid = $1 AND (wait_event_type = 'Lock' OR state = 'idle in transaction') AND query LIKE 'UPDATE%'",
      [(user as Client & { processID: number }).processID],
    );
    if (rowCount === 1) return;
  }
}

test("a row that a transaction holds for long is left for later, a value that it holds as well, and the rest of the page arrives", async () => {
  await knownRow();
  await sql("CREATE UNIQUE INDEX ON salesforce.contact (key__c)");
  const user = await transaction(
    "UPDATE salesforce.contact SET email = 'user@example.com'",
    "INSERT INTO salesforce.contact (key__c) VALUES ('mine')",
  );
  const { store, lease } = await customer.cycle();
  const records = [image(1, 2, { lastname: "Sklodowska" }), image(2, 2, { lastname: "Noether" })];

  const applied = await store.apply(
    lease,
    page([...records, image(3, 2, { key__c: "mine" })], { marks: { position: orgTime(60) } }),
  );
  const left = await inboundErrors("sfid, sqlstate, retry_at");
  await user.query("COMMIT");
  customer.now = new Date(customer.now.getTime() + 10_000);
  await store.finish(lease, END);
  const { store: next, lease: nextLease, begun } = await customer.cycle();
  await next.apply(nextLease, page(records.slice(0, 1), { lane: "reread" }));

  const later = { sqlstate: "55P03", retry_at: new Date("2026-11-20T12:00:10Z") };
  expect(applied).toMatchObject({ inserted: 1, rejected: 2 });
  expect(left).toEqual([1, 3].map((number) => ({ sfid: sfidOf(number), ...later })));
  expect(begun.rereads).toEqual([sfidOf(1), sfidOf(3)]);
  expect(await inboundErrors("sfid")).toEqual([{ sfid: sfidOf(3) }]);
  expect((await contacts()).slice(0, 2)).toEqual([
    { sfid: sfidOf(1), lastname: "Sklodowska", email: "user@example.com" },
    { sfid: null, lastname: null, email: null },
  ]);
});

test("an older image changes nothing and is read again; the second one of a second counts where no save can be open", async () => {
  const { store, lease } = await customer.cycle();
  const apply = (seconds: number, lastname: string, more: Parameters<typeof page>[1] = {}) =>
    store.apply(lease, page([image(1, seconds, { lastname })], more));
  const again = { inserted: 0, updated: 0, reread: [sfidOf(1)] };

  const twice = page([image(1, 4, { lastname: "first" }), image(1, 5, { lastname: "second" })]);
  expect(await store.apply(lease, twice), "the last of a page").toMatchObject({ inserted: 1 });
  expect(await rows("lastname")).toEqual([{ lastname: "second" }]);
  expect(await apply(4, "older")).toMatchObject(again);
  expect(await apply(5, "third", { lane: "load" }), "by Bulk").toMatchObject(again);
  expect(await apply(5, "third")).toMatchObject({ updated: 1 });
  const late = { lane: "sweep", readAt: orgTime(3_600) } as const;
  expect(await apply(5, "fourth", late)).toMatchObject({ updated: 1, reread: [] });

  await sql("UPDATE salesforce.contact SET lastname = 'pushed'");
  await pushAll({ store, lease }, () => null, orgTime(30));
  expect(await apply(5, "fourth", { lane: "load", readAt: orgTime(20) }), "of before a push").toMatchObject(again);
  expect(await apply(30, "pushed", { lane: "reread", readAt: orgTime(31) })).toMatchObject({
    unchanged: 1,
    reread: [],
  });
  expect(await rows("lastname")).toEqual([{ lastname: "pushed" }]);

  await sql("DELETE FROM salesforce.contact");
  expect(await apply(30, "pushed"), "while its row's delete waits").toMatchObject({ inserted: 0, unchanged: 1 });
  await pushAll({ store, lease }, () => null, orgTime(40));
  expect(await apply(30, "pushed", { readAt: orgTime(39), lane: "load" })).toMatchObject(again);
  expect(await apply(50, "undeleted")).toMatchObject({ inserted: 1 });
  await store.apply(lease, page([image(1, 60, {}, true)], { lane: "deleted" }));
  expect(await apply(50, "undeleted", { lane: "load" }), "of before its deletion").toMatchObject(again);
  expect(await apply(70, "undeleted")).toMatchObject({ inserted: 1 });
});

test("of 500 values one that a column refuses leaves its record alone aside, in few transactions", async () => {
  await sql("ALTER TABLE salesforce.contact ADD CHECK (lastname <> 'forbidden')");
  let transactions = 0;
  const before = async (statement: string) => void (statement.includes("FOR UPDATE") && transactions++);
  const { store, lease } = await customer.cycle({ before });
  const records = numbersTo(500).map((n) => image(n, 1, { lastname: n === 11 ? "forbidden" : `L${n}` }));

  const applied = await store.apply(lease, page(records, { marks: { position: orgTime(60) } }));

  expect(applied).toMatchObject({ inserted: 499, rejected: 1 });
  expect(transactions).toBeLessThanOrEqual(20);
  expect(await position()).toEqual(orgTime(60));
});

test("each value that a column refuses has its SQLSTATE, until its record comes with another one", async () => {
  await sql("ALTER TABLE salesforce.contact ADD CHECK (lastname <> 'forbidden')");
  const { store, lease } = await customer.cycle();
  const names = ["nul\u0000", "fine", "forbidden", "x".repeat(81)];

  const applied = await store.apply(lease, page(names.map((lastname, n) => image(n, 1, { lastname }))));
  const errors = await inboundErrors("sqlstate");
  await store.apply(lease, page([image(2, 2, { lastname: "allowed" })]));

  expect(applied).toMatchObject({ inserted: 1, rejected: 3 });
  expect(errors.map(({ sqlstate }) => sqlstate)).toEqual(["22021", "23514", "22001"]);
  expect(await inboundErrors("sfid")).toEqual([{ sfid: sfidOf(0) }, { sfid: sfidOf(3) }]);
});

test("a kill between the pieces of a refused page leaves the marks where they were, so that all of it comes again", async () => {
  await sql("ALTER TABLE salesforce.contact ADD CHECK (lastname <> 'forbidden')");
  await sql("UPDATE salesforce._bridge_state SET position = $1", [orgTime(0)]);
  const records = numbersTo(8).map((n) => image(n, 1, { lastname: n === 8 ? "forbidden" : `L${n}` }));
  const refusedPage = page(records, { marks: { position: orgTime(60) } });
  let inserts = 0;
  const killed = await customer.cycle({
    before: async (statement) => {
      if (/^INSERT INTO "?salesforce"?."?contact"? /.test(statement)) inserts += 1;
      if (inserts > 2) throw new Error("killed"); // the whole page, its first half; then the host is gone
    },
  });

  await expect(killed.store.apply(killed.lease, refusedPage)).rejects.toThrow("killed");
  await killed.store.close();

  expect(await contacts()).toHaveLength(4);
  expect(await position()).toEqual(orgTime(0));
  await loseLease();
  const { store, lease } = await customer.cycle();
  expect(await store.apply(lease, refusedPage)).toMatchObject({ inserted: 3, unchanged: 4, rejected: 1 });
  expect(await contacts()).toHaveLength(7);
  expect(await position()).toEqual(orgTime(60));
});

test("upsert values that go round among records in one page go round among their rows, others move or come along", async () => {
  await customer.provision({ configVersion: 2, upsertField: "Key__c" });
  const { store, lease } = await customer.cycle();
  const named = (number: number, key: string | null, seconds: number) =>
    image(number, seconds, { key__c: key, lastname: `${number} has ${key}` });
  const keyed = (keys: readonly (string | null)[], seconds: number) =>
    page(keys.map((key, at) => named(at + 1, key, seconds)));
  await store.apply(lease, keyed(["A", "B", "C", "D", "E", "F"], 1));
  const after = ["B", "A", "D", "E", "C", null, "F", "G"];

  const applied = await store.apply(lease, keyed(after, 2));

  expect(applied).toMatchObject({ updated: 6, inserted: 2, rejected: 0 });
  expect(await sql("SELECT key__c, lastname FROM salesforce.contact ORDER BY sfid")).toEqual(
    after.map((key, at) => ({ key__c: key, lastname: `${at + 1} has ${key}` })),
  );
  expect(await sql("SELECT FROM salesforce._trigger_log")).toEqual([]);
  expect(await inboundErrors("sfid")).toEqual([]);
});
