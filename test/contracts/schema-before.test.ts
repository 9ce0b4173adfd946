import type { SQSEvent } from "aws-lambda";
import { beforeAll, describe, expect, test } from "vitest";
import { handler as sweepMinute } from "../../functions/workers/sweep-minute.ts";
import { ROUTES, type Route, type RouteName } from "../../lib/http/routes.ts";
import { readEndpoints } from "../../lib/infra/describe-api/read-endpoints.ts";
import { call } from "../support/clients/call.ts";
import { longTest } from "../support/run/whole-grid.ts";
import { becomeUpgraded } from "../support/worlds/released-schema.ts";
import { type Asking, anIdleContactForEachTest, mapped } from "../support/worlds/worlds.ts";

/**
 * Everything works on a schema that a released version made and this one has upgraded. The release before has this
 * version of the schema: a next migration tries the schema as it was without it here (add-a-migration.md).
 */

type Handler = Parameters<typeof call>[0];
const handlers = new Map<RouteName, Handler>();
beforeAll(async () => {
  for (const name of (await readEndpoints()).keys())
    handlers.set(name, ((await import(`../../functions/api/${name}.ts`)) as { handler: Handler }).handler);
});

let made: Asking;
anIdleContactForEachTest(async (asking) => {
  made = asking;
});

const insert = (lastName: string, more = "NULL") =>
  made.world.sql(`INSERT INTO salesforce.contact (lastname, email) VALUES ($1, ${more})`, [lastName]);
const states = () => made.world.sql("SELECT DISTINCT state FROM salesforce._trigger_log");
const contacts = (fields = "LastName") => made.world.soql(`SELECT ${fields} FROM Contact ORDER BY LastName`);
const rows = () => made.world.sql("SELECT lastname FROM salesforce.contact ORDER BY lastname");

const SCENARIOS = {
  "rows and records go both ways": async ({ world, contact }: Asking) => {
    await insert("Out");
    await world.colleague("POST", "/sobjects/Contact", { LastName: "In" });
    await world.cycle(contact);
    await world.sql("UPDATE salesforce.contact SET email = 'out@example.com' WHERE lastname = 'Out'");
    await world.cycle(contact);
    await world.pass(10);
    await world.beat([contact]);

    expect(await contacts("LastName, Email")).toEqual([
      { LastName: "In", Email: null },
      { LastName: "Out", Email: "out@example.com" },
    ]);
    expect(await rows()).toEqual([{ lastname: "In" }, { lastname: "Out" }]);
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
  "both sides are compared whole, also of a row that no trigger captured": async ({ world, contact }: Asking) => {
    await insert("Seen");
    await world.cycle(contact);
    await world.sql("SET bridge.in_sync = 'contact'");
    await world.sql("UPDATE salesforce.contact SET email = 'unseen@example.com'");
    await world.sql("RESET bridge.in_sync");
    await world.work(contact, "sweep");
    await world.cycle(contact);

    expect(await rows()).toEqual([{ lastname: "Seen" }]);
  },
  "a first load of rows that may meet records": async ({ world, contact }: Asking) => {
    await insert("Loaded");
    await world.cycle(contact);
    await world.work(contact, "load");
    await world.work(contact, "backfill");

    expect(await contacts()).toEqual([{ LastName: "Loaded" }]);
  },
  "a row that Salesforce refuses fails, and is sent again": async ({ world, contact, token }: Asking) => {
    await insert("Wrong", "'not an address'");
    await world.cycle(contact);
    expect(await states()).toEqual([{ state: "FAILED" }]);
    await world.sql("UPDATE salesforce.contact SET email = 'right@example.com'");
    await world.cycle(contact);
    const [row] = await world.sql("SELECT id FROM salesforce.contact");
    const path = { workspace_id: world.workspaceId, table_name: "contact", key: String(row?.["id"]) };
    expect((await call(handlerOf("read-row-story"), "read-row-story", { path, token })).status).toBeLessThan(500);

    expect(await contacts("Email")).toEqual([{ Email: "right@example.com" }]);
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
    const listed = await call(handlerOf("list-conflicts"), "list-conflicts", { path, token });
    expect(listed.json?.data).toMatchObject([{ postgres: "row@example.com", salesforce: "record@example.com" }]);
  },
  "deletes go both ways": async ({ world, contact }: Asking) => {
    await insert("Deleted here");
    await insert("Deleted there");
    await world.cycle(contact);
    const [, there] = await world.soql("SELECT Id FROM Contact ORDER BY LastName");
    await world.sql("DELETE FROM salesforce.contact WHERE lastname = 'Deleted here'");
    await world.colleague("DELETE", `/sobjects/Contact/${there?.["Id"]}`);
    await world.pass(600);
    await world.cycle(contact);
    await world.cycle(contact);

    expect([await contacts(), await rows()]).toEqual([[], []]);
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

const handlerOf = (route: RouteName): Handler => {
  const handler = handlers.get(route);
  if (!handler) throw new Error(`${route} has no function`);
  return handler;
};

describe("on a schema that was upgraded", () => {
  test("rows and records go both ways, and all that follows from it", async () => {
    await becomeUpgraded(made.world);

    for (const scenario of Object.values(SCENARIOS)) {
      await scenario(made);
      await leaveNothing(made);
    }

    expect(made.world.log.filter(({ level }) => level === "error")).toEqual([]);
    expect(await made.world.sql("SELECT schema_version FROM salesforce._bridge_meta")).toEqual([{ schema_version: 9 }]);
  });

  /** Endpoints whose functions open the workspace's database, but for those that connect another one. */
  const ASKING = (Object.keys(ROUTES) as RouteName[]).filter(
    (name) => (ROUTES[name] as Route).postgres === true && !["set-postgres", "adopt-heroku-connect"].includes(name),
  );
  const BODIES: Partial<Record<RouteName, object>> = {
    "retry-rows": { table: "contact" },
    "dismiss-rows": { table: "contact" },
    "capture-mapping": { uncaptured: "mine" },
    "reject-deletes": {},
    "accept-restore": {},
    "write-row": { values: { lastname: "Another" } },
  };

  longTest("every endpoint that asks the database answers", async () => {
    const { cloud, world, contact, admin } = made;
    await becomeUpgraded(world);
    await SCENARIOS["a conflict is decided and recorded"](made);
    await insert("Wrong", "'not an address'");
    await world.cycle(contact);
    const [change] = await world.sql("SELECT id FROM salesforce._trigger_log WHERE state = 'FAILED'");
    const [conflict] = await world.sql("SELECT id FROM salesforce._bridge_conflicts");
    const row = { table: "contact", key: "1", row_id: String(change?.["id"]), change_id: String(change?.["id"]) };
    const ids = { mapping_id: contact.id, conflict_id: String(conflict?.["id"]), mark: "mark" };
    const path = { workspace_id: world.workspaceId, ...row, ...ids };

    const answers: string[] = [];
    for (const route of ASKING) {
      const asked = { path, token: admin, ...(BODIES[route] && { body: BODIES[route] }) };
      answers.push(`${route} ${(await call(handlerOf(route), route, asked)).status}`);
    }
    for (const queue of ["provisioning", "loads"] as const) await cloud.take(queue); // what they asked for ends with this test

    expect(answers.length).toBeGreaterThan(30);
    // No cycle has the mark, and the row is not gone.
    expect(answers.filter((answer) => !answer.endsWith(" 200"))).toEqual(["read-cycle 404", "restore-row 409"]);
  });

  longTest("the sweep has its metrics", async () => {
    const { world } = made;
    await becomeUpgraded(world);
    await insert("Waits");
    await world.pass(90);

    await sweepMinute({ Records: [{ messageId: "tick", body: "{}" }] } as SQSEvent);

    const path = { workspace_id: world.workspaceId };
    expect((await call(handlerOf("read-metrics"), "read-metrics", { path })).text).toContain(
      `queue_depth{workspace_id="${world.workspaceId}"} 1`,
    );
  });
});
