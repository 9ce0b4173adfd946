import { describe, expect, test } from "vitest";
import type { Cycle } from "../../../lib/sync/cycle/cycle.ts";
import { viewsAll } from "../../../lib/sync/load/vanished.ts";
import { plannedBudget } from "../../support/doubles/planned-budget.ts";
import { longTest } from "../../support/run/whole-grid.ts";
import { eachInAWorld, longTexts, MANY, numbered, orgWith, WIDE, world } from "../world.ts";

eachInAWorld(
  undefined,
  orgWith("Contact", ...longTexts(), {
    name: "Shout__c",
    type: "formula",
    formula: "UPPER(Account.Name)",
    returns: "string",
  }),
);

async function load(count: number): Promise<void> {
  await world.createRecords("Contact", numbered(count, "L", { Description: "theirs" }));
  await world.mapContact(["AccountId", "Description", "LastName", "Shout__c", ...WIDE]);
  await world.stopMinutes();
  await world.settle();
}

test("a sweep of a large object finds what no poll could see, and asks for nothing else: rows that are missing, late, no one's or written without a trigger, formulas", async () => {
  await load(MANY);
  const { id: account } = (await world.rest("POST", "/sobjects/Account", { Name: "Acme" })) as { id: string };
  const shout = async () =>
    (await world.sql("SELECT shout__c FROM salesforce.contact WHERE lastname = 'L4'"))[0]?.["shout__c"];
  await world.patch("L4", { AccountId: account });
  await world.settle();
  await world.rest("PATCH", `/sobjects/Account/${account}`, { Name: "Umbrella" });
  await world.remove("L3");
  await world.writeUncaptured(`DELETE FROM salesforce.contact WHERE lastname = 'L1';
    UPDATE salesforce.contact SET lastname = 'Late', systemmodstamp = '2020-01-01Z' WHERE lastname = 'L2';
    UPDATE salesforce.contact SET description = 'unseen' WHERE lastname = 'L5'`);
  expect(await shout()).toBe("ACME");
  const calls = await world.calls();

  await world.sweep();

  const all = await world.names();
  expect([all.length, ...["L1", "L2", "L3"].map((name) => all.includes(name))]).toEqual([MANY - 1, true, true, false]);
  expect(await shout()).toBe("UMBRELLA");
  expect(await world.sql("SELECT description FROM salesforce.contact WHERE lastname = 'L5'")).toEqual([
    { description: "theirs" },
  ]);
  expect((await world.calls()) - calls).toBeLessThanOrEqual(9);
  expect(world.log.at(-1)).toMatchObject({ inserted: 1, updated: 3, deleted: 1 });
  expect(new Set(await world.states()), "nothing goes back").toEqual(new Set(["FAILED"]));
});

test("a sweep makes no call while the rest of the share is for pulls and saves, and is run later", async () => {
  await load(3);
  await world.writeUncaptured("DELETE FROM salesforce.contact WHERE lastname = 'L1'");
  const usage = (used: number) => ({ used, limit: 100, at: new Date(world.cloud.clock.now()) });
  await world.pass(1);
  await world.services.engine.saveBudget(world.workspaceId, async () => plannedBudget(usage(96), { spareCalls: 0 }));
  const calls = await world.calls();

  await world.sweep();
  const spared = (await world.calls()) - calls;
  const logged = world.log.at(-1);
  await world.pass(300);
  await world.services.engine.saveBudget(world.workspaceId, async () => plannedBudget(usage(1)));
  await world.cycles();

  expect([spared, logged]).toEqual([0, expect.objectContaining({ event: "sweep", outcome: "spared" })]);
  expect(await world.cloud.take("loads")).toMatchObject([{ mapping_id: world.contact.id, kind: "load" }]);
  await world.work(world.contact, "load");
  expect(await world.names()).toHaveLength(3);
});

test("a user who may view all data views all records, also where the permissions of objects are not shown", async () => {
  const hold = { mayRead: async () => undefined, during: (ask: () => unknown) => ask() };
  const salesforce = { queryTogether: async () => [{ kind: "mapping" }, { records: [{}] }] };
  const cycle = { salesforce, hold, shape: { sfObject: "Contact" }, writers: async () => ["005000000000001AAA"] };
  expect(await viewsAll(cycle as unknown as Cycle)).toBe(true);
});

describe("rows whose records were deleted for good, of which getDeleted shows nothing any more", () => {
  const held = () => world.sql("SELECT sfid, confirmed FROM salesforce._bridge_held_deletes");

  /** Whatever our user sees of the org's records. */
  async function viewAll(permissions: boolean): Promise<void> {
    const [set] = await world.soql("SELECT Id FROM PermissionSet WHERE IsOwnedByProfile = TRUE");
    await world.rest("PATCH", `/sobjects/PermissionSet/${set?.["Id"]}`, { PermissionsViewAllData: permissions });
  }

  test("are looked for by a sweep where its log was purged, its last answer is old or they are too many, and held until a user confirms", async () => {
    const whys = {
      "its log was purged": () => world.control("DELETE", "/delete-log"),
      "its last answer is more than fifteen days old": () =>
        world.sql("UPDATE salesforce._bridge_state SET deleted = deleted - interval '16 days'"),
      "they are too many": () => world.fault({ kind: "malformedRequest", code: "EXCEEDED_ID_LIMIT", path: "/deleted" }),
    };
    await load(4);
    await viewAll(false);
    for (const [at, [why, happens]] of Object.entries(whys).entries()) {
      await world.pass(300);
      const id = await world.removeForGood(`L${at}`);
      await happens();
      await world.pass(3600);
      await world.cycles();
      expect(await world.cloud.take("loads"), why).toMatchObject([{ mapping_id: world.contact.id, kind: "sweep" }]);
      await world.sweep();
      await world.sweep();

      expect([(await world.names()).length, await held()], why).toEqual([4 - at, [{ sfid: id, confirmed: false }]]);
      await world.sql("UPDATE salesforce._bridge_held_deletes SET confirmed = true");
      await world.cycles();
      expect([(await world.names()).length, await held()], why).toEqual([3 - at, []]);
    }
    expect(await world.names()).toEqual(["L3"]);
  });

  longTest(
    "leave the table where our user may view all data, or all records of the object and of no other one",
    async () => {
      await load(3);
      await world.pass(300);
      await world.removeForGood("L1");
      await world.control("DELETE", "/delete-log");
      await world.sweep();
      expect([await world.names(), await held()]).toEqual([["L0", "L2"], []]);

      await viewAll(false);
      await world.removeForGood("L0");
      const [set] = await world.soql("SELECT Id FROM PermissionSet WHERE IsOwnedByProfile = TRUE");
      const permit = (SobjectType: string) =>
        world.rest("POST", "/sobjects/ObjectPermissions", {
          ParentId: set?.["Id"],
          SobjectType,
          PermissionsViewAllRecords: true,
        });
      await permit("Account");
      await world.sweep();
      const before = (await world.names()).length;

      await permit("Contact");
      await world.sweep();

      expect([before, await world.names(), await held()]).toEqual([2, ["L2"], []]);
    },
  );
});
