import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { handler as readHealth } from "../../../functions/api/read-health.ts";
import { FIRST_VERSION, MIGRATIONS } from "../../../lib/adapters/postgres/schema/migrations.ts";
import { SCHEMA_VERSION } from "../../../lib/model/workspace/schema-version.ts";
import { longTest } from "../../support/run/whole-grid.ts";
import { carryOut } from "../../support/worlds/carry-out.ts";
import { eachInAWorld, world } from "../world.ts";

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

eachInAWorld(async () => {
  await world.mapContact(["Email", "LastName"]);
  await world.cycles();
  await world.cloud.take("provisioning");
});
const lines = vi.fn();
for (const level of ["info", "warn", "error"] as const) vi.spyOn(console, level).mockImplementation(lines);
beforeEach(() => lines.mockClear());
afterEach(() => {
  all.splice(RELEASED - FIRST_VERSION + 1);
  Object.assign(SCHEMA_VERSION, { newest: RELEASED, before: RELEASED });
});

const versionOf = async () => (await world.sql("SELECT schema_version AS is FROM salesforce._bridge_meta"))[0]?.["is"];
const upgrades = async () => {
  const sent = (await world.cloud.take("provisioning")) as {
    readonly upgrade?: boolean;
    readonly workspace_id: string;
  }[];
  return sent.filter((message) => message.upgrade && message.workspace_id === world.workspaceId);
};
const health = () => world.ask<{ readonly sync: { readonly upgrade?: string } }>(readHealth, "read-health");

const said = () =>
  world.log.filter(({ event, workspace_id }) => event === "schema_upgrade" && workspace_id === world.workspaceId);

test("a schema one version back is upgraded with the next sweep, says so meanwhile, and its rows are sent", async () => {
  expect(RELEASED).toBe(FIRST_VERSION - 1 + MIGRATIONS.length);
  become(1);
  const words = "the schema salesforce is being upgraded from version 9 to 10";

  await world.insert("Before");
  await world.cycles();
  expect(await world.namesThere()).toEqual(["Before"]);
  expect((await health()).sync.upgrade).toBe(words);

  await world.sweepMinute();
  expect(lines.mock.calls.flat()).toContainEqual(expect.stringContaining(words));
  await carryOut(world.cloud, world.services);

  expect(await versionOf()).toBe(10);
  expect((await health()).sync.upgrade).toBeUndefined();
  await world.sweepMinute();
  expect(await upgrades()).toEqual([]);
  await world.insert("After");
  await world.cycles();
  expect(await world.namesThere()).toEqual(["After", "Before"]);
});

longTest(
  "one message a sweep asks for the upgrade, and as many as come at once upgrade once, beside a writer",
  async () => {
    become(1);
    await world.sweepMinute();
    const [message, ...more] = await upgrades();
    expect([message, more]).toEqual([expect.objectContaining({ mapping_id: null, import_id: null }), []]);
    await world.sweepMinute();
    await world.sweepMinute();

    await Promise.all([carryOut(world.cloud, world.services, 3), world.insert("Meanwhile")]);

    expect(await versionOf()).toBe(10);
    expect(said()).toEqual([
      expect.objectContaining({ level: "info", message: "the schema is up to date" }),
      expect.objectContaining({ level: "info" }),
    ]);
  },
);

test("a schema two versions back waits for its upgrade with that reason, and continues after it", async () => {
  await world.insert("Waits");
  become(2);
  await world.pass(16); // a later version begins with no session that is kept
  const words = "the schema salesforce is being upgraded from version 9 to 11";

  await world.cycles(3);

  expect(await world.namesThere()).toEqual([]);
  expect(world.log.at(-1)).toMatchObject({ event: "cycle", reason: "postgres_unavailable", message: words });
  expect(await health()).toMatchObject({ sync: { status: "broken", upgrade: words } });

  await world.sweepMinute();
  await carryOut(world.cloud, world.services);
  await world.cycles();

  expect(await versionOf()).toBe(11);
  expect(await world.namesThere()).toEqual(["Waits"]);
  expect((await health()).sync).toMatchObject({ status: "running" });
});

test("why a schema cannot be upgraded is in health and in the log, and the sweep asks again", async () => {
  become(2);
  await world.sql("UPDATE salesforce._bridge_meta SET schema_version = 7");
  await world.sweepMinute();

  await carryOut(world.cloud, world.services);

  const why = expect.stringContaining("the schema cannot be upgraded: the schema salesforce has version 7");
  expect(said()).toEqual([expect.objectContaining({ level: "error", message: why })]);
  expect((await health()).sync.upgrade).toEqual(why);
  await world.sweepMinute();
  expect(await upgrades()).toHaveLength(1);

  await world.sql(`UPDATE salesforce._bridge_meta SET schema_version = ${RELEASED}`);
  await world.sweepMinute();
  await carryOut(world.cloud, world.services);
  expect(await versionOf()).toBe(11);
  expect((await health()).sync.upgrade).toBeUndefined();
});
