import { expect, test } from "vitest";
import { handler as listConflicts } from "../../functions/api/list-conflicts.ts";
import { call } from "../support/clients/call.ts";
import { becomeUpgraded } from "../support/worlds/released-schema.ts";
import { type Asking, anIdleContactForEachTest, mapped } from "../support/worlds/worlds.ts";

/**
 * What goes through most tables works on a schema that a released version made and this one has upgraded, whose catalog
 * is that of a new one (migrate.test.ts). The release before has this version of the schema: a next migration tries the
 * schema as it was without it here (add-a-migration.md).
 */

let made: Asking;
anIdleContactForEachTest(async (asking) => {
  made = asking;
});

const insert = (lastName: string) =>
  made.world.sql("INSERT INTO salesforce.contact (lastname) VALUES ($1)", [lastName]);
const states = () => made.world.sql("SELECT DISTINCT state FROM salesforce._trigger_log");

const SCENARIOS = {
  "rows and records go both ways": async ({ world, contact }: Asking) => {
    await insert("Out");
    await world.colleague("POST", "/sobjects/Contact", { LastName: "In" });
    await world.cycle(contact);
    await world.sql("UPDATE salesforce.contact SET email = 'out@example.com' WHERE lastname = 'Out'");
    await world.cycle(contact);
    await world.pass(10);
    await world.beat([contact]);

    expect(await world.soql("SELECT LastName, Email FROM Contact ORDER BY LastName")).toEqual([
      { LastName: "In", Email: null },
      { LastName: "Out", Email: "out@example.com" },
    ]);
    expect(await world.sql("SELECT lastname FROM salesforce.contact ORDER BY 1")).toEqual([
      { lastname: "In" },
      { lastname: "Out" },
    ]);
    expect(await states()).toEqual([{ state: "SUCCESS" }]);
  },
  "rows with an upsert value that wait for each other are sent": async ({ world }: Asking) => {
    const fields = ["Name", "External_Id__c"];
    const account = await mapped(world, { object: "Account", fields, upsertField: "External_Id__c" });
    await becomeUpgraded(world);
    await world.fault({ kind: "lockedRow", object: "Account", times: 1 });
    await world.sql("INSERT INTO salesforce.account (name, external_id__c) VALUES ('First', 'K-1')");
    await world.cycle(account);
    await world.sql("DELETE FROM salesforce.account");
    await world.sql("INSERT INTO salesforce.account (name, external_id__c) VALUES ('Second', 'K-1'), ('Other', 'K-2')");
    for (let cycle = 0; cycle < 4; cycle += 1) {
      await world.pass(60);
      await world.cycle(account);
    }

    expect(await world.soql("SELECT Name, External_Id__c FROM Account ORDER BY Name")).toEqual([
      { Name: "Other", External_Id__c: "K-2" },
      { Name: "Second", External_Id__c: "K-1" },
    ]);
    expect(await states()).toEqual([{ state: "SUCCESS" }]);
  },
  "a conflict is decided and recorded": async ({ world, contact, token }: Asking) => {
    await insert("Contested");
    await world.cycle(contact);
    const [record] = await world.soql("SELECT Id FROM Contact");
    await world.pass(60);
    await world.sql("UPDATE salesforce.contact SET email = 'row@example.com'");
    await world.colleague("PATCH", `/sobjects/Contact/${record?.["Id"]}`, { Email: "record@example.com" });
    await world.cycle(contact);
    await world.cycle(contact);

    const path = { workspace_id: world.workspaceId };
    const listed = await call(listConflicts, "list-conflicts", { path, token });
    expect(listed.json?.data).toMatchObject([{ postgres: "row@example.com", salesforce: "record@example.com" }]);
  },
};

/** Takes away what a scenario has left, so that the next one begins with none of it. */
async function leaveNothing({ world }: Asking): Promise<void> {
  await world.sql("SET bridge.in_sync = 'contact'");
  await world.sql("DELETE FROM salesforce.contact");
  await world.sql("RESET bridge.in_sync");
  await world.sql("DELETE FROM salesforce._trigger_log");
  await world.sql("DELETE FROM salesforce._bridge_conflicts");
  for (const object of ["Contact", "Account"])
    for (const { Id } of await world.soql(`SELECT Id FROM ${object}`))
      await world.colleague("DELETE", `/sobjects/${object}/${Id}`);
}

test("rows and records go both ways on a schema that was upgraded, and all that follows from it", async () => {
  await becomeUpgraded(made.world);

  for (const scenario of Object.values(SCENARIOS)) {
    await scenario(made);
    await leaveNothing(made);
  }

  expect(made.world.log.filter(({ level }) => level === "error")).toEqual([]);
  expect(await made.world.sql("SELECT schema_version FROM salesforce._bridge_meta")).toEqual([{ schema_version: 9 }]);
});
