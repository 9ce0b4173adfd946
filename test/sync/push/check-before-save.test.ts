import { describe, expect, test } from "vitest";
import { isPullDue } from "../../../lib/model/calls/interval.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { handleCycleMessage } from "../../../lib/sync/beat/handle-cycle-message.ts";
import type { Row, SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";

let world: SyncWorld;
aWorldForEachTest((made) => {
  world = made.world;
});

const at = (seconds: number) => new Date(world.cloud.clock.now() + seconds * 1000);

/** A mapping whose record was pulled a minute after it was created, and that is not pulled again for a minute. */
async function aPulledRecord(bridge: Row, fields = ["LastName", "Title", "Email"]): Promise<[Mapping, string]> {
  const { id } = (await world.rest("POST", "/sobjects/Contact", { LastName: "Lovelace", Title: "Ms" })) as {
    id: string;
  };
  const contact = await mapped(world, { object: "Contact", fields, bridge, pollingSeconds: 600 });
  await world.pass(60);
  while (isPullDue(world.workspaceId, 600, at(0), at(60))) await world.pass(60);
  await world.cycle(contact);
  return [contact, id];
}

/** A cycle that the application's nudge asks for: it sends without a pull before it. */
async function push(contact: Mapping): Promise<void> {
  await world.pass(1);
  const message = {
    workspace_id: world.workspaceId,
    mapping_id: contact.id,
    kind: "pull",
    slot: null,
    wakes: "push",
  } as const;
  await handleCycleMessage(world.services, message, { owner: "test", deadline: world.cloud.clock.now() + 180_000 });
}

const inSalesforce = (id: string, values: Row) => world.colleague("PATCH", `/sobjects/Contact/${id}`, values);
const inRow = (assignments: string, id: string) =>
  world.sql(`UPDATE salesforce.contact SET ${assignments} WHERE sfid = $1`, [id]);
const row = async (id: string) =>
  (
    await world.sql("SELECT lastname, title, email, _ab_lastop AS state FROM salesforce.contact WHERE sfid = $1", [id])
  )[0];
const record = async (id: string) =>
  (await world.soql(`SELECT LastName, Title, Email FROM Contact WHERE Id = '${id}'`))[0];
const states = () =>
  world.sql(
    "SELECT state, \"values\" ->> 'title' AS title FROM salesforce._trigger_log WHERE action = 'UPDATE' ORDER BY id",
  );
const conflicts = () =>
  world.sql("SELECT field, postgres, salesforce, winner FROM salesforce._bridge_conflicts ORDER BY id");

describe("the row is written first, the record before the push", () => {
  test.each([
    { policy: "salesforce_wins", check: "auto", both: "Dr", winner: "salesforce" },
    { policy: "postgres_wins", check: "on", both: "Countess", winner: "postgres" },
    // The org's time of the test is behind PostgreSQL's.
    { policy: "latest_wins", check: "auto", both: "Countess", winner: "postgres" },
  ])("$policy decides by the conflict that it records", async ({ policy, check, both, winner }) => {
    const [contact, id] = await aPulledRecord({ conflict_policy: policy, check_before_save: check });
    await inRow("title = 'Countess', email = 'ada@example.com'", id);
    await world.pass(2);
    await inSalesforce(id, { Title: "Dr", LastName: "King" });

    await push(contact);

    const held = { lastname: "King", title: both, email: "ada@example.com", state: "UPDATED" };
    expect(await row(id)).toMatchObject(held);
    expect(await record(id)).toEqual({ LastName: "King", Title: both, Email: "ada@example.com" });
    expect(await conflicts()).toEqual([{ field: "title", postgres: "Countess", salesforce: "Dr", winner }]);
  });

  test("a field that Salesforce alone has changed comes to the row, and no conflict is recorded", async () => {
    const [contact, id] = await aPulledRecord({});
    await inRow("title = 'Countess'", id);
    await world.pass(2);
    await inSalesforce(id, { Email: "ada@example.org" });

    await push(contact);

    expect(await record(id)).toMatchObject({ Title: "Countess", Email: "ada@example.org" });
    expect(await row(id)).toMatchObject({ title: "Countess", email: "ada@example.org" });
    expect(await conflicts()).toEqual([]);
  });

  test.each([
    { policy: "salesforce_wins", comesBack: true },
    { policy: "postgres_wins", comesBack: false },
  ])("a row that was deleted meanwhile, where $policy", async ({ policy, comesBack }) => {
    const [contact, id] = await aPulledRecord({ conflict_policy: policy, check_before_save: "on" });
    await world.sql("DELETE FROM salesforce.contact WHERE sfid = $1", [id]);
    await world.pass(2);
    await inSalesforce(id, { Title: "Dr" });

    await push(contact);

    expect(await world.soql(`SELECT Title FROM Contact WHERE Id = '${id}'`)).toEqual(
      comesBack ? [{ Title: "Dr" }] : [],
    );
    expect((await row(id))?.["title"]).toBe(comesBack ? "Dr" : undefined);
  });

  test("a record that was deleted meanwhile: the row leaves, and its change keeps the values", async () => {
    const [contact, id] = await aPulledRecord({});
    await inRow("title = 'Countess'", id);
    await world.pass(2);
    await world.colleague("DELETE", `/sobjects/Contact/${id}`);

    await push(contact);

    expect(await row(id)).toBeUndefined();
    expect(await states()).toEqual([{ state: "FAILED", title: "Countess" }]);
  });

  test("other rows of the same push are sent, and each only once", async () => {
    const [contact, id] = await aPulledRecord({});
    await inRow("title = 'Countess'", id);
    await world.sql("INSERT INTO salesforce.contact (lastname) SELECT 'New ' || n FROM generate_series(1, 5) AS n");
    await inSalesforce(id, { Title: "Dr" });

    await push(contact);

    expect((await world.soql("SELECT Id FROM Contact")).length).toBe(6);
    expect(await world.sql("SELECT FROM salesforce._trigger_log WHERE state IN ('NEW', 'PENDING')")).toEqual([]);
  });
});

describe("nothing is read again", () => {
  test("where nothing has changed: one call a push", async () => {
    const [contact, id] = await aPulledRecord({});
    await inRow("title = 'Countess'", id);
    await world.pass(2);
    const before = await world.calls();

    await push(contact);

    expect((await world.calls()) - before).toBe(2);
    expect(await record(id)).toMatchObject({ Title: "Countess" });
  });

  test.each([
    ["the setting is off", { check_before_save: "off" }],
    ["PostgreSQL wins anyway", { conflict_policy: "postgres_wins" }],
  ])("nor checked where %s", async (_, bridge) => {
    const [contact, id] = await aPulledRecord(bridge);
    await inRow("title = 'Countess'", id);
    await world.pass(2);
    const before = await world.calls();

    await push(contact);

    expect((await world.calls()) - before).toBe(1);
  });

  test("nor checked behind a pull of the same cycle, nor for new rows", async () => {
    const [contact, id] = await aPulledRecord({});
    await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('New')");
    const before = await world.calls();
    await push(contact);
    expect((await world.calls()) - before).toBe(1);

    await inRow("title = 'Countess'", id);
    const later = await world.calls();
    await world.cycle(contact);
    expect((await world.calls()) - later).toBe(2);
  });
});

test("no other row waits until a record that has changed is read again", async () => {
  await world.rest("POST", "/sobjects/Contact", { LastName: "Byron" });
  const [contact, id] = await aPulledRecord({});
  await world.sql("UPDATE salesforce.contact SET title = 'Countess'");
  await world.pass(2);
  await inSalesforce(id, { Title: "Dr" });
  await world.control("DELETE", "/requests");

  await push(contact);

  const asked = (await world.control("GET", "/requests")) as { api: string }[];
  expect(asked.map(({ api }) => api)).toEqual(["REST", "SOAP", "REST"]);
  expect((await world.soql("SELECT Id FROM Contact WHERE Title = 'Countess'")).length).toBe(1);
});

test("a row that is written while its push sends others is checked, too", async () => {
  const { id: later } = (await world.rest("POST", "/sobjects/Contact", { LastName: "Byron" })) as { id: string };
  const [contact, id] = await aPulledRecord({});
  await world.sql(`
    CREATE FUNCTION follow() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN UPDATE salesforce.contact SET title = 'Lord' WHERE sfid = '${later}' AND title IS NULL; RETURN NULL; END $$`);
  await world.sql(`
    CREATE TRIGGER follow AFTER UPDATE ON salesforce.contact FOR EACH ROW
    WHEN (NEW.sfid = '${id}' AND NEW._ab_lastop = 'UPDATED') EXECUTE FUNCTION follow()`);
  await inRow("title = 'Countess'", id);
  await world.pass(2);
  await inSalesforce(later, { Title: "Sir" });

  await push(contact);

  expect(await record(later)).toMatchObject({ Title: "Sir" });
  expect(await conflicts()).toEqual([{ field: "title", postgres: "Lord", salesforce: "Sir", winner: "salesforce" }]);
});

test("a record whose change its row cannot take does not hold the row's own change back", async () => {
  const [contact, id] = await aPulledRecord({});
  await world.sql("ALTER TABLE salesforce.contact ADD CHECK (email <> 'bad@example.com')");
  await inRow("title = 'Countess'", id);
  await world.pass(2);
  await inSalesforce(id, { Email: "bad@example.com" });

  await push(contact);

  expect(await record(id)).toMatchObject({ Title: "Countess", Email: "bad@example.com" });
});

test("a row that a transaction holds waits until it can take what Salesforce has changed", async () => {
  const [contact, id] = await aPulledRecord({});
  await inRow("title = 'Countess'", id);
  await world.pass(2);
  await inSalesforce(id, { Title: "Dr" });
  await world.sql("BEGIN");
  await world.sql("SELECT FROM salesforce.contact WHERE sfid = $1 FOR UPDATE", [id]);

  await push(contact);
  await world.sql("COMMIT");
  expect(await record(id)).toMatchObject({ Title: "Dr" });

  await world.pass(15);
  await world.cycle(contact);
  expect(await record(id)).toMatchObject({ Title: "Dr" });
  expect(await conflicts()).toEqual([{ field: "title", postgres: "Countess", salesforce: "Dr", winner: "salesforce" }]);
});
