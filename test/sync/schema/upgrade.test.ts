import type { SQSEvent } from "aws-lambda";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { handler as readHealth } from "../../../functions/api/read-health.ts";
import { handler as sweepMinute } from "../../../functions/workers/sweep-minute.ts";
import { FIRST_VERSION, MIGRATIONS } from "../../../lib/adapters/postgres/schema/migrations.ts";
import { SCHEMA_VERSION } from "../../../lib/model/workspace/schema-version.ts";
import { call } from "../../support/clients/call.ts";
import { longTest } from "../../support/run/whole-grid.ts";
import { carryOut } from "../../support/worlds/carry-out.ts";
import { type Asking, anIdleContactForEachTest } from "../../support/worlds/worlds.ts";

/** This code as a later version: it has one migration more than the schema, or two. */
const LATER: typeof MIGRATIONS = [
  (_, { log }) => `ALTER TABLE ${log} ADD COLUMN later text`,
  (schema) => `CREATE TABLE ${schema}._bridge_later (id int PRIMARY KEY)`,
];
const RELEASED = SCHEMA_VERSION.newest;
const all = MIGRATIONS as (typeof LATER)[number][];
const become = (ahead: number) => {
  all.push(...LATER.slice(0, ahead));
  Object.assign(SCHEMA_VERSION, { newest: RELEASED + ahead, before: RELEASED + ahead - 1 });
};

let made: Asking;
anIdleContactForEachTest(async (asking) => {
  made = asking;
  await made.cloud.take("provisioning");
});
const lines = vi.fn();
for (const level of ["info", "warn", "error"] as const) vi.spyOn(console, level).mockImplementation(lines);
beforeEach(() => lines.mockClear());
afterEach(() => {
  all.splice(RELEASED - FIRST_VERSION + 1);
  Object.assign(SCHEMA_VERSION, { newest: RELEASED, before: RELEASED });
});

const sweep = () => sweepMinute({ Records: [{ messageId: "tick", body: "{}" }] } as SQSEvent);
const versionOf = async () =>
  (await made.world.sql("SELECT schema_version AS is FROM salesforce._bridge_meta"))[0]?.["is"];
const insert = (lastName: string) =>
  made.world.sql("INSERT INTO salesforce.contact (lastname) VALUES ($1)", [lastName]);
const contacts = () => made.world.soql("SELECT LastName FROM Contact ORDER BY LastName");
const upgrades = async () => {
  const sent = (await made.cloud.take("provisioning")) as {
    readonly upgrade?: boolean;
    readonly workspace_id: string;
  }[];
  return sent.filter((message) => message.upgrade && message.workspace_id === made.world.workspaceId);
};
async function health() {
  const path = { workspace_id: made.world.workspaceId };
  const { json } = await call(readHealth, "read-health", { path, token: made.token });
  return json?.data as { readonly pg: { readonly status: string }; readonly sync: { readonly upgrade?: string } };
}

const said = () =>
  made.world.log.filter(
    ({ event, workspace_id }) => event === "schema_upgrade" && workspace_id === made.world.workspaceId,
  );

test("a schema one version back is upgraded with the next sweep, says so meanwhile, and its rows are sent", async () => {
  expect(RELEASED).toBe(FIRST_VERSION - 1 + MIGRATIONS.length);
  become(1);
  const words = "the schema salesforce is being upgraded from version 9 to 10";

  await insert("Before");
  await made.world.cycle(made.contact);
  expect(await contacts()).toEqual([{ LastName: "Before" }]);
  expect((await health()).sync.upgrade).toBe(words);

  await sweep();
  expect(lines.mock.calls.flat()).toContainEqual(expect.stringContaining(words));
  await carryOut(made.cloud, made.world.services);

  expect(await versionOf()).toBe(10);
  expect((await health()).sync.upgrade).toBeUndefined();
  await sweep();
  expect(await upgrades()).toEqual([]);
  await insert("After");
  await made.world.cycle(made.contact);
  expect(await contacts()).toEqual([{ LastName: "After" }, { LastName: "Before" }]);
});

longTest(
  "one message a sweep asks for the upgrade, and as many as come at once upgrade once, beside a writer",
  async () => {
    become(1);
    await sweep();
    const [message, ...more] = await upgrades();
    expect([message, more]).toEqual([expect.objectContaining({ mapping_id: null, import_id: null }), []]);
    await sweep();
    await sweep();

    await Promise.all([carryOut(made.cloud, made.world.services, 3), insert("Meanwhile")]);

    expect(await versionOf()).toBe(10);
    expect(said()).toEqual([
      expect.objectContaining({ level: "info", message: "the schema is up to date" }),
      expect.objectContaining({ level: "info" }),
    ]);
  },
);

longTest("a schema two versions back waits for its upgrade with that reason, and continues after it", async () => {
  await insert("Waits");
  become(2);
  await made.world.pass(16); // a later version begins with no session that is kept
  const words = "the schema salesforce is being upgraded from version 9 to 11";

  for (let cycle = 0; cycle < 3; cycle += 1) await made.world.cycle(made.contact);

  expect(await contacts()).toEqual([]);
  expect(made.world.log.at(-1)).toMatchObject({ event: "cycle", reason: "postgres_unavailable", message: words });
  expect(await health()).toMatchObject({ sync: { status: "broken", upgrade: words } });

  await sweep();
  await carryOut(made.cloud, made.world.services);
  await made.world.cycle(made.contact);

  expect(await versionOf()).toBe(11);
  expect(await contacts()).toEqual([{ LastName: "Waits" }]);
  expect((await health()).sync).toMatchObject({ status: "running" });
});

test("why a schema cannot be upgraded is in health and in the log, and the sweep asks again", async () => {
  become(2);
  await made.world.sql("UPDATE salesforce._bridge_meta SET schema_version = 7");
  await sweep();

  await carryOut(made.cloud, made.world.services);

  const why = expect.stringContaining("the schema cannot be upgraded: the schema salesforce has version 7");
  expect(said()).toEqual([expect.objectContaining({ level: "error", message: why })]);
  expect((await health()).sync.upgrade).toEqual(why);
  await sweep();
  expect(await upgrades()).toHaveLength(1);

  await made.world.sql(`UPDATE salesforce._bridge_meta SET schema_version = ${RELEASED}`);
  await sweep();
  await carryOut(made.cloud, made.world.services);
  expect(await versionOf()).toBe(11);
  expect((await health()).sync.upgrade).toBeUndefined();
});
