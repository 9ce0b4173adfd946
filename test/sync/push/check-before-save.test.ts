import { describe, expect, test } from "vitest";
import { isPullDue } from "../../../lib/model/calls/interval.ts";
import { handleCycleMessage } from "../../../lib/sync/beat/handle-cycle-message.ts";
import { firstInGate } from "../../support/run/whole-grid.ts";
import type { Row } from "../../support/worlds/sync-world.ts";
import { eachInAWorld, world } from "../world.ts";

eachInAWorld();

const at = (seconds: number) => new Date(world.cloud.clock.now() + seconds * 1000);

const aRecord = async (LastName: string, values: Row = {}) =>
  ((await world.create(LastName, values)) as { id: string }).id;

/** A mapping whose record was pulled a minute after it was created, and that is not pulled again for a minute. */
async function aPulledRecord(bridge: Row): Promise<string> {
  const id = await aRecord("Lovelace", { Title: "Ms" });
  await world.mapContact(["LastName", "Title", "Email"], { bridge, pollingSeconds: 600 });
  await world.pass(60);
  while (isPullDue(world.workspaceId, 600, at(0), at(60))) await world.pass(60);
  await world.cycles();
  return id;
}

/**
 * A cycle that the application's nudge asks for: it sends without a pull before it. It waits until the second is over in
 * which a record was changed, and so for real, unless as many seconds have passed.
 */
async function push(seconds = 3): Promise<void> {
  await world.pass(seconds);
  const message = {
    workspace_id: world.workspaceId,
    mapping_id: world.contact.id,
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

describe("the row is written first, the record before the push", () => {
  test.each(
    firstInGate(2, [
      { policy: "salesforce_wins", check: "auto", both: "Dr", winner: "salesforce", comesBack: true },
      { policy: "postgres_wins", check: "on", both: "Countess", winner: "postgres", comesBack: false },
      // The org's time of the test is behind PostgreSQL's.
      { policy: "latest_wins", check: "auto", both: "Countess", winner: "postgres", comesBack: false },
    ]),
  )(
    "$policy decides by the conflict that it records, and on a row that was deleted",
    async ({ policy, check, both, winner, comesBack }) => {
      const deleted = await aRecord("Byron");
      const id = await aPulledRecord({ conflict_policy: policy, check_before_save: check });
      await inRow("title = 'Countess', email = 'ada@example.com'", id);
      await world.sql("DELETE FROM salesforce.contact WHERE sfid = $1", [deleted]);
      await world.pass(2);
      await inSalesforce(id, { Title: "Dr", LastName: "King" });
      await inSalesforce(deleted, { Title: "Lord" });

      await push();

      const held = { lastname: "King", title: both, email: "ada@example.com", state: "UPDATED" };
      expect(await row(id)).toMatchObject(held);
      expect(await record(id)).toEqual({ LastName: "King", Title: both, Email: "ada@example.com" });
      expect(await world.conflicts()).toEqual([{ field: "title", postgres: "Countess", salesforce: "Dr", winner }]);
      expect((await record(deleted))?.["Title"]).toBe(comesBack ? "Lord" : undefined);
      expect((await row(deleted))?.["title"]).toBe(comesBack ? "Lord" : undefined);
    },
  );

  test("each record by what has changed of it: what came is in its row, what left takes it along, and no other is held back", async () => {
    const [gone, refused] = [await aRecord("Byron"), await aRecord("Babbage")];
    const changed = await aPulledRecord({});
    await world.sql("ALTER TABLE salesforce.contact ADD CHECK (email <> 'bad@example.com')");
    await world.sql("UPDATE salesforce.contact SET title = 'Countess'");
    await world.pass(2);
    await inSalesforce(changed, { Email: "ada@example.org" });
    await inSalesforce(refused, { Email: "bad@example.com" });
    await world.colleague("DELETE", `/sobjects/Contact/${gone}`);

    await push();

    expect(await record(changed)).toMatchObject({ Title: "Countess", Email: "ada@example.org" });
    expect(await row(changed)).toMatchObject({ title: "Countess", email: "ada@example.org" });
    expect(await record(refused), "its row cannot take it").toMatchObject({
      Title: "Countess",
      Email: "bad@example.com",
    });
    expect(await row(gone)).toBeUndefined();
    expect((await states()).map(({ state }) => state)).toEqual(["FAILED", "SUCCESS", "SUCCESS"]);
    expect(await states()).toContainEqual({ state: "FAILED", title: "Countess" });
    expect(await world.conflicts()).toEqual([]);
  });
});

test("nothing is read again where nothing has changed, nor checked behind a pull of the same cycle, nor for new rows", async () => {
  const id = await aPulledRecord({});
  const callsOf = async (work: () => Promise<void>) => {
    const before = await world.calls();
    await work();
    return (await world.calls()) - before;
  };
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('New')");
  expect(await callsOf(() => push()), "a save").toBe(1);

  await inRow("title = 'Countess'", id);
  await world.pass(2);
  expect(await callsOf(() => push()), "a check and a save").toBe(2);
  expect(await record(id)).toMatchObject({ Title: "Countess" });

  await inRow("title = 'Mrs'", id);
  expect(await callsOf(() => world.cycles()), "a pull and a save").toBe(2);
});

test("a row that is written while its push sends others is checked, too", async () => {
  const later = await aRecord("Byron");
  const id = await aPulledRecord({});
  await world.sql(`CREATE FUNCTION follow() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN UPDATE salesforce.contact SET title = 'Lord' WHERE sfid = '${later}' AND title IS NULL; RETURN NULL; END $$;
    CREATE TRIGGER follow AFTER UPDATE ON salesforce.contact FOR EACH ROW
    WHEN (NEW.sfid = '${id}' AND NEW._ab_lastop = 'UPDATED') EXECUTE FUNCTION follow()`);
  await inRow("title = 'Countess'", id);
  await world.pass(2);
  await inSalesforce(later, { Title: "Sir" });

  await push();

  expect(await record(later)).toMatchObject({ Title: "Sir" });
  expect(await world.conflicts()).toEqual([
    { field: "title", postgres: "Lord", salesforce: "Sir", winner: "salesforce" },
  ]);
});

test("a row that a transaction holds waits until it can take what Salesforce has changed", async () => {
  const id = await aPulledRecord({});
  await inRow("title = 'Countess'", id);
  await world.pass(2);
  await inSalesforce(id, { Title: "Dr" });
  await world.sql("BEGIN");
  await world.sql("SELECT FROM salesforce.contact WHERE sfid = $1 FOR UPDATE", [id]);

  await push();
  await world.sql("COMMIT");
  expect(await record(id)).toMatchObject({ Title: "Dr" });

  await world.pass(15);
  await world.cycles();
  expect(await record(id)).toMatchObject({ Title: "Dr" });
  expect(await world.conflicts()).toEqual([
    { field: "title", postgres: "Countess", salesforce: "Dr", winner: "salesforce" },
  ]);
});
