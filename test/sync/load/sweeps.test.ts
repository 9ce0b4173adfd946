import { Client } from "pg";
import { beforeEach, describe, expect, test } from "vitest";
import { schedules } from "../../../functions/services/provisioning-services.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { plannedBudget } from "../../support/doubles/planned-budget.ts";
import { longTest } from "../../support/run/whole-grid.ts";
import type { BridgeCloud } from "../../support/worlds/bridge-cloud.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";

/** More than five pages of records as wide as these: they are read by the Bulk API. */
const MANY = 1_001;
const WIDE = ["Story__c", "Saga__c"];

let cloud: BridgeCloud;
let world: SyncWorld;
let contact: Mapping;
aWorldForEachTest(
  async (made) => {
    ({ cloud, world } = made);
    await cloud.take("loads"); // what the cycles of the test before have asked for
  },
  {
    definition: {
      objects: [
        {
          name: "Contact",
          fields: [
            ...WIDE.map((name) => ({ name, type: "longTextArea" as const, length: 131_072 })),
            { name: "Shout__c", type: "formula", formula: "UPPER(Account.Name)", returns: "string" },
          ],
        },
      ],
    },
  },
);

async function load(count: number): Promise<void> {
  const contacts = Array.from({ length: count }, (_, n) => ({ LastName: `L${n}`, Description: `D${n}` }));
  await world.createRecords("Contact", contacts);
  const fields = ["AccountId", "Description", "LastName", "Shout__c", ...WIDE];
  contact = await mapped(world, { object: "Contact", fields });
  await schedules().remove(contact.id); // days pass here, of which no minute is looked at
  await world.pass(3600);
  await world.cycle(contact, "pull");
}

/** The queries of the jobs that the org was given since the first load's. */
async function jobs(): Promise<readonly string[]> {
  const { records } = (await world.rest("GET", "/jobs/query")) as { records: { query: string }[] };
  return records.slice(1).map(({ query }) => query);
}

const sweep = () => world.work(contact, "sweep");
const names = async () =>
  (await world.sql("SELECT lastname FROM salesforce.contact ORDER BY id")).map(({ lastname }) => lastname);

/** What a session writes that asks for no triggers. */
async function unseen(statement: string): Promise<void> {
  await world.asSuperuser(`SET session_replication_role = replica; ${statement}`);
}

describe("a sweep of a large object", () => {
  beforeEach(() => load(MANY));

  test("neither waits for rows that are locked nor writes equal ones", async () => {
    const versions = () => world.sql("SELECT xmin::text, ctid::text FROM salesforce.contact ORDER BY id");
    const before = await versions();
    const application = new Client({ connectionString: world.databaseUrl });
    await application.connect();
    await application.query("BEGIN");
    await application.query("SELECT FROM salesforce.contact FOR UPDATE");
    const calls = await world.calls();

    await sweep();

    await application.query("ROLLBACK");
    await application.end();
    expect(await jobs()).toHaveLength(1);
    expect((await world.calls()) - calls, "count, job, looks, one page of results").toBeLessThanOrEqual(7);
    expect((await versions()).map(({ ctid }) => ctid)).toEqual(before.map(({ ctid }) => ctid));
    expect(world.log.at(-1)).toMatchObject({ event: "sweep", outcome: "done", read: MANY, updated: 0, rejected: 0 });
    expect(await world.sql("SELECT load FROM salesforce._bridge_loads")).toEqual([{ load: null }]);
  });

  test("finds what no poll could see, and asks for nothing else: rows that are missing, late or no one's, formulas", async () => {
    const [{ Id: account } = {}] = [
      (await world.rest("POST", "/sobjects/Account", { Name: "Acme" })) as { id: string },
    ].map(({ id: Id }) => ({ Id }));
    const idOf = async (name: string) =>
      String((await world.soql(`SELECT Id FROM Contact WHERE LastName = '${name}'`))[0]?.["Id"]);
    await world.rest("PATCH", `/sobjects/Contact/${await idOf("L4")}`, { AccountId: account });
    await world.pass(3600);
    await world.cycle(contact, "pull");
    await world.rest("PATCH", `/sobjects/Account/${account}`, { Name: "Umbrella" });
    await world.rest("DELETE", `/sobjects/Contact/${await idOf("L3")}`);
    await unseen("DELETE FROM salesforce.contact WHERE lastname = 'L1'");
    await unseen(
      "UPDATE salesforce.contact SET lastname = 'Late', systemmodstamp = '2020-01-01Z' WHERE lastname = 'L2'",
    );
    const calls = await world.calls();

    await sweep();

    const all = await names();
    expect([all.length, all.includes("L1"), all.includes("L2"), all.includes("L3")]).toEqual([
      MANY - 1,
      true,
      true,
      false,
    ]);
    expect(await world.sql("SELECT shout__c FROM salesforce.contact WHERE lastname = 'L4'")).toEqual([
      { shout__c: "UMBRELLA" },
    ]);
    expect((await world.calls()) - calls).toBeLessThanOrEqual(9);
    expect(world.log.at(-1)).toMatchObject({ inserted: 1, updated: 2, deleted: 1 });
  });

  longTest("continues in the part of its results in which it was killed, and still knows what it has met", async () => {
    await world.fault({ kind: "smallBatches", path: "/results", size: 300, times: 0 });
    const [gone] = await world.sql("SELECT sfid FROM salesforce.contact WHERE lastname = 'L5'");
    await world.rest("DELETE", `/sobjects/Contact/${gone?.["sfid"]}`);
    let parts = 0;
    world.interfere((call) => {
      if (call === "org.bulkResults" && ++parts === 4) throw new Error("killed");
    });
    await expect(sweep()).rejects.toThrow("killed");
    const unmet: unknown[] = [];
    world.interfere(async (call) => {
      if (call === "store.rowsAfter")
        unmet.push(
          ...(await world.sql("SELECT jsonb_array_length(load -> 'unmet') AS buckets FROM salesforce._bridge_loads")),
        );
    });
    const calls = await world.calls();

    await world.work(contact, "load");

    expect(unmet[0]).toEqual({ buckets: 1 });
    expect(await names()).toHaveLength(MANY - 1);
    expect(await jobs()).toHaveLength(1);
    expect((await world.calls()) - calls, "a poll, three parts, the ids of one bucket").toBeLessThanOrEqual(5);
    expect(await world.sql("SELECT load FROM salesforce._bridge_loads")).toEqual([{ load: null }]);
  });

  test("finds what was written without a trigger, which its stamp does not show", async () => {
    await unseen("UPDATE salesforce.contact SET description = 'unseen' WHERE lastname = 'L1'");

    await sweep();

    expect(await world.sql("SELECT description FROM salesforce.contact WHERE lastname = 'L1'")).toEqual([
      { description: "D1" },
    ]);
  });
});

test("a sweep makes no call while the rest of the share is for pulls and saves, and is run later", async () => {
  await load(3);
  await unseen("DELETE FROM salesforce.contact WHERE lastname = 'L1'");
  const usage = (used: number) => ({ used, limit: 100, at: new Date(cloud.clock.now()) });
  await world.pass(1);
  await world.services.engine.saveBudget(world.workspaceId, async () => plannedBudget(usage(96), { spareCalls: 0 }));
  const calls = await world.calls();

  await sweep();
  const spared = (await world.calls()) - calls;
  const logged = world.log.at(-1);
  await world.pass(300);
  await world.services.engine.saveBudget(world.workspaceId, async () => plannedBudget(usage(1)));
  await world.cycle(contact);

  expect([spared, logged]).toEqual([0, expect.objectContaining({ event: "sweep", outcome: "spared" })]);
  expect(await cloud.take("loads")).toMatchObject([{ mapping_id: contact.id, kind: "load" }]);
  await world.work(contact, "load");
  expect(await names()).toHaveLength(3);
});

describe("rows whose records were deleted for good, of which getDeleted shows nothing any more", () => {
  const rows = () => world.sql("SELECT lastname FROM salesforce.contact ORDER BY lastname");
  const held = () => world.sql("SELECT sfid, confirmed FROM salesforce._bridge_held_deletes");

  /** Whatever our user sees of the org's records. */
  async function viewAll(permissions: boolean): Promise<void> {
    const [set] = await world.soql("SELECT Id FROM PermissionSet WHERE IsOwnedByProfile = TRUE");
    await world.rest("PATCH", `/sobjects/PermissionSet/${set?.["Id"]}`, { PermissionsViewAllData: permissions });
  }

  async function deleteForGood(name: string): Promise<unknown> {
    const [record] = await world.soql(`SELECT Id FROM Contact WHERE LastName = '${name}'`);
    await world.rest("DELETE", `/sobjects/Contact/${record?.["Id"]}`);
    await world.control("DELETE", "/recycle-bin");
    return record?.["Id"];
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
      const id = await deleteForGood(`L${at}`);
      await happens();
      await world.pass(3600);
      await world.cycle(contact);
      expect(await cloud.take("loads"), why).toMatchObject([{ mapping_id: contact.id, kind: "sweep" }]);
      await sweep();
      await sweep();

      expect([(await rows()).length, await held()], why).toEqual([4 - at, [{ sfid: id, confirmed: false }]]);
      await world.sql("UPDATE salesforce._bridge_held_deletes SET confirmed = true");
      await world.cycle(contact);
      expect([(await rows()).length, await held()], why).toEqual([3 - at, []]);
    }
    expect(await rows()).toEqual([{ lastname: "L3" }]);
  });

  test("leave the table where our user may view all data, or all records of the object and of no other one", async () => {
    await load(3);
    await world.pass(300);
    await deleteForGood("L1");
    await world.control("DELETE", "/delete-log");
    await sweep();
    expect([await rows(), await held()]).toEqual([[{ lastname: "L0" }, { lastname: "L2" }], []]);

    await viewAll(false);
    await deleteForGood("L0");
    const [set] = await world.soql("SELECT Id FROM PermissionSet WHERE IsOwnedByProfile = TRUE");
    const permit = (SobjectType: string) =>
      world.rest("POST", "/sobjects/ObjectPermissions", {
        ...{ ParentId: set?.["Id"], SobjectType, PermissionsViewAllRecords: true },
      });
    await permit("Account");
    await sweep();
    const before = (await rows()).length;

    await permit("Contact");
    await sweep();

    expect([before, await rows(), await held()]).toEqual([2, [{ lastname: "L2" }], []]);
  });
});
