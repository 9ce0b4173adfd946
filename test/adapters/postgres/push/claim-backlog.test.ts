import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createProvisioner } from "../../../../lib/adapters/postgres/schema/provision.ts";
import type { ClaimedChange } from "../../../../lib/model/change/change.ts";
import type { PushOutcome } from "../../../../lib/sync/ports/push-ports.ts";
import { firstInGate } from "../../../support/run/whole-grid.ts";
import { contactShape, mappingOf } from "../../../support/worlds/shapes.ts";
import { type Customer, createCustomer, forgetReads, orgTime, rowsReadOfTheLog } from "../customer.ts";

const shape = contactShape({ upsertField: "Key__c" });
let customer: Customer;
beforeEach(async () => {
  customer = await createCustomer({ shape });
});
afterEach(() => customer.close());

const insert = (key: string) =>
  customer.sql("INSERT INTO salesforce.contact (lastname, key__c) VALUES ($1, $1)", [key]);

/**
 * Changes that were captured for rows of their own, and have waited since: put off by so many seconds, or held. An
 * index has their upsert values, as a settled claim or the delete breaker leaves them.
 */
const waiting = (count: number, { putOff = null }: { readonly putOff?: number | null }) =>
  customer.sql(
    `INSERT INTO salesforce._trigger_log (action, table_name, record_id, sfid, old, "values", due_at, held, upsert_key)
     SELECT CASE WHEN $3 THEN 'DELETE' ELSE 'INSERT' END, 'contact', 1000000 + n, CASE WHEN $3 THEN lpad(n::text, 18, '0') END,
       CASE WHEN $3 THEN v END, CASE WHEN NOT $3 THEN v END, $2::timestamptz, $3, 'key__c' || chr(1) || 'key ' || (v ->> 'key__c')
     FROM generate_series(1, $1::int) n, jsonb_build_object('key__c', 'waiting ' || n) v`,
    [count, putOff === null ? null : new Date(customer.now.getTime() + putOff * 1000), putOff === null],
  );

const retryIn = (seconds: number) => (change: ClaimedChange) =>
  ({
    kind: "retry",
    changeIds: [change.id],
    recordId: change.recordId,
    action: change.action,
    sfid: change.sfid,
    answeredAt: orgTime(1),
    error: "X: later",
    afterSeconds: seconds,
    counts: true,
  }) as PushOutcome;

test.each(
  firstInGate(2, [
    ["wait for their retry", { putOff: 3_600 }, ["a", "b", "c"]],
    ["are held deletes", {}, ["a", "b", "c"]],
    ["have become due for their retry", { putOff: -3_600 }, ["waiting 1", "waiting 2", "waiting 3"]],
  ] as const),
)("a claim is as quick as ever, however many changes %s", async (_, backlog, claimed) => {
  await customer.sql("ALTER TABLE salesforce._trigger_log SET (autovacuum_enabled = off)");
  await waiting(5_000, backlog);
  for (const key of ["a", "b", "c"]) await insert(key);
  const { store, lease } = await customer.cycle();
  await forgetReads(customer);

  const changes = await store.claim(lease, 3);
  await store.close();

  expect(changes.map(({ values }) => values["key__c"])).toEqual(claimed);
  // What is held is counted as a cycle begins.
  expect(await rowsReadOfTheLog(customer)).toBeLessThan("putOff" in backlog ? 200 : 5_200);
});

describe.each(
  firstInGate(1, [
    ["with its indexes", ""],
    ["as version 8 made it", "DROP INDEX salesforce._bridge_log_blocked_keys"],
  ] as const),
)("in a log %s", (_, prepare) => {
  beforeEach(async () => {
    if (prepare) await customer.sql(prepare);
  });

  test("a change waits for an earlier one of another row that has its upsert value, whatever its case", async () => {
    await insert(" Same");
    const first = await customer.cycle();
    await first.store.settle(first.lease, (await first.store.claim(first.lease, 10)).map(retryIn(60)));
    await customer.sql("DELETE FROM salesforce.contact");
    await insert("same");
    await insert("other");

    const meanwhile = await first.store.claim(first.lease, 10);
    customer.now = new Date(customer.now.getTime() + 60_000);
    const later = await first.store.claim(first.lease, 10);

    expect(meanwhile.map(({ values }) => values["key__c"])).toEqual(["other"]);
    expect(later.map(({ action, values }) => [action, values["key__c"]])).toEqual([
      ["INSERT", " Same"],
      ["DELETE", undefined],
      ["INSERT", "same"],
    ]);
  });

  test("a change waits for an earlier one that gave the upsert value away", async () => {
    await insert("given");
    const { store, lease } = await customer.cycle();
    await store.settle(lease, (await store.claim(lease, 10)).map(retryIn(-1)));
    await customer.sql("UPDATE salesforce.contact SET key__c = 'kept'");
    await store.settle(lease, (await store.claim(lease, 10)).map(retryIn(60)));
    await insert("given");
    await insert("Kept ");

    expect(await store.claim(lease, 10)).toEqual([]);
  });

  test("a change waits for an earlier one of the same record, by an id of 15 or of 18 characters", async () => {
    await customer.sql(
      `INSERT INTO salesforce._trigger_log (action, table_name, record_id, sfid, old, held)
       VALUES ('DELETE', 'contact', 77, '003000000000001', '{}', true)`,
    );
    await customer.sql(
      "INSERT INTO salesforce.contact (lastname, sfid) VALUES ('Curie', '003000000000001AAA'), ('Joliot', '003000000000002AAA')",
    );
    await customer.sql(
      "UPDATE salesforce._trigger_log SET state = 'SUCCESS', last_operation = 'INSERTED', processed_at = now() WHERE action = 'INSERT'",
    );
    await customer.sql("UPDATE salesforce.contact SET email = 'x@example.com'");
    const { store, lease } = await customer.cycle();

    expect((await store.claim(lease, 10)).map(({ sfid }) => sfid)).toEqual(["003000000000002AAA"]);
  });

  test("of many that are due at once the first are claimed first, and none overtakes what it waits for", async () => {
    const { store, lease } = await customer.cycle();
    for (const key of ["a", "b", "c"]) await insert(key);
    const changes = await store.claim(lease, 10);
    await store.settle(
      lease,
      changes.map((change, at) => retryIn(30 - 10 * at)(change)),
    );
    await customer.sql("DELETE FROM salesforce.contact WHERE key__c = 'a'");
    await insert("A");
    customer.now = new Date(customer.now.getTime() + 60_000);

    const claims: unknown[] = [];
    for (let claim = 0; claim < 4; claim += 1)
      claims.push(
        (await store.claim(lease, 1)).map(({ action, old, values }) => [action, values["key__c"] ?? old["key__c"]]),
      );

    expect(claims).toEqual([
      [["INSERT", "c"]],
      [["INSERT", "b"]],
      [
        ["INSERT", "a"],
        ["DELETE", "a"],
      ],
      [],
    ]);
  });
});

test("after the upgrade of a log that changes wait in, its indexes are built beside its writers", async () => {
  await insert("before");
  const indexes = () =>
    customer.sql(
      `SELECT relname, indisvalid FROM pg_index JOIN pg_class c ON c.oid = indexrelid
       WHERE indrelid = 'salesforce._trigger_log'::regclass ORDER BY relname`,
    );
  const wanted = await indexes();
  await customer.sql("DROP INDEX salesforce._bridge_log_ready, salesforce._bridge_log_blocked_keys");
  await customer.sql(
    "CREATE INDEX _bridge_log_waiting_in_order ON salesforce._trigger_log ((table_name || ''), id) WHERE processed_at IS NULL AND NOT held",
  );
  const writer = await customer.connect();
  await writer.query("BEGIN");
  await writer.query("INSERT INTO salesforce.contact (lastname) VALUES ('Open')");

  const look = createProvisioner({ url: customer.url, schema: "salesforce" }, () => customer.now).migrate(
    mappingOf(shape),
  );
  await insert("meanwhile");
  await writer.query("COMMIT");
  await look;

  expect(await indexes()).toEqual(wanted);
  const { store, lease } = await customer.cycle();
  expect(await store.claim(lease, 10)).toHaveLength(3);
});
