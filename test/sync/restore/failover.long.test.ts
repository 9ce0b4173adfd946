import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { handler as deleteMapping } from "../../../functions/api/delete-mapping.ts";
import { handler as setPostgres } from "../../../functions/api/set-postgres.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { hasBaseBackup, type OwnServer, ownServer } from "../../support/run/server-of-ours.ts";
import type { Row } from "../../support/worlds/sync-world.ts";
import { eachInAWorld, world } from "../world.ts";

const ASKED = [
  { object: "Contact", fields: ["LastName", "Email", "External_Id__c"], upsertField: "External_Id__c" },
  { object: "Account", fields: ["Name", "Phone"] },
];

let mappings: Mapping[];
eachInAWorld();

const cycles = async () => {
  for (const mapping of mappings) await world.cycle(mapping);
};
const minutes = async (count: number) => {
  for (let minute = 0; minute < count; minute += 1) {
    await world.pass(60);
    await cycles();
  }
};
/** Whether a rewind is suspected of any mapping. */
const suspected = async () =>
  (
    await Promise.all(mappings.map(async ({ id }) => (await world.services.engine.read(world.workspaceId, id)).engine))
  ).some(({ state }) => state.brokenSince !== null || state.rewoundAt !== null);
const caughtUp = () =>
  new Set(
    world.log
      .filter((line) => JSON.stringify(line).includes("the database has lost its last moments"))
      .map((line) => line["sf_object"]),
  );

describe.runIf(hasBaseBackup)("on a server of our own", () => {
  let folder: string;
  let server: OwnServer;
  const servers: OwnServer[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "bridge-failover-"));
  });
  afterEach(async () => {
    for (const one of servers.splice(0)) await one.crash();
    rmSync(folder, { recursive: true, force: true });
  });

  async function connect(to: OwnServer): Promise<void> {
    server = to;
    const answer = await world.api.ask(setPostgres, "set-postgres", { body: { url: to.url, schema: "salesforce" } });
    expect(answer.status, answer.text).toBe(200);
    await world.carryOut();
  }

  async function sql(text: string): Promise<readonly Row[]> {
    const client = new Client({ connectionString: server.url });
    await client.connect();
    return (await client.query<Row>(text).finally(() => client.end())).rows;
  }

  /** Changes of the application, captured by the clock of the test. */
  async function write(text: string): Promise<void> {
    await sql(text);
    const at = new Date(world.services.clock.now()).toISOString();
    await sql(
      `UPDATE salesforce._trigger_log SET created_at = '${at}' WHERE created_at > '${at}'::timestamptz + interval '1 day'`,
    );
  }

  async function map(settings: Readonly<Record<string, string>>): Promise<void> {
    const made = await ownServer(folder, settings);
    servers.push(made);
    await connect(made);
    mappings = await world.map(...ASKED);
    await sql("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('Ada', 'a'), ('Bo', 'b')");
    await sql("INSERT INTO salesforce.account (name) VALUES ('One'), ('Two')");
    for (const _ of [1, 2]) await cycles();
    await minutes(5);
  }

  /** What waits as the last bytes reach the disk or the standby, and what is sent of it after that. */
  const WAITS = `
    UPDATE salesforce.contact SET email = 'first@example.com' WHERE external_id__c = 'a';
    INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('Cy', 'c');
    INSERT INTO salesforce.account (name) VALUES ('Three')`;
  const COMES_LATER = `
    UPDATE salesforce.contact SET email = 'second@example.com' WHERE external_id__c = 'a';
    INSERT INTO salesforce.account (name) VALUES ('Four')`;

  /** Both sides are equal, and of the log nothing is left but what failed as these messages say. */
  async function expectEqual(failed: readonly string[] = []): Promise<void> {
    await cycles();
    await world.pass(700);
    for (const _ of [1, 2, 3]) await cycles();
    for (const { object, fields } of ASKED) {
      const rows = await sql(`SELECT sfid, ${fields.join(", ")} FROM salesforce.${object} ORDER BY sfid`);
      const records = await world.soql(`SELECT Id, ${fields.join(", ")} FROM ${object} ORDER BY Id`);
      expect(rows.map((row) => Object.values(row))).toEqual(records.map((record) => Object.values(record)));
    }
    const left = await sql("SELECT state, sf_message FROM salesforce._trigger_log WHERE state <> 'SUCCESS'");
    expect(left).toEqual(failed.map((sf_message) => ({ state: "FAILED", sf_message })));
    expect(await suspected()).toBe(false);
  }

  test("a promoted standby that had not received the last moments is caught up: nothing old is sent, nothing twice", async () => {
    await map({ wal_level: "replica" });
    const primary = server;
    const standby = await primary.standby();
    servers.push(standby);
    await standby.start();
    await write(WAITS);
    const [at] = await primary.query("SELECT pg_current_wal_lsn()::text AS lsn");
    for (let isThere: unknown = false; isThere !== true; )
      isThere = (await standby.query(`SELECT pg_last_wal_replay_lsn() >= '${at?.["lsn"]}' AS there`))[0]?.["there"];
    await standby.crash();
    await cycles();
    await write(COMES_LATER);
    await cycles();
    await primary.crash();
    await standby.start();
    await standby.promote();
    await connect(standby);

    // The standby has the first of two changes, and no answer of either: whether the first was sent cannot be known.
    await expectEqual(["CONFLICT: Salesforce changed the same fields, and wins [email]"]);

    expect(caughtUp()).toEqual(new Set(["Account", "Contact"]));
    expect(await world.soql("SELECT Email FROM Contact WHERE External_Id__c = 'a'")).toEqual([
      { Email: "second@example.com" },
    ]);
    const accounts = await world.soql("SELECT Name FROM Account ORDER BY Name");
    expect(accounts.map(({ Name }) => Name)).toEqual(["Four", "One", "Three", "Two"]);
  });

  test("a crash of a server that commits asynchronously loses no change that was sent, and sends none twice", async () => {
    await map({ synchronous_commit: "off", wal_writer_delay: "10s" });
    await server.query("CHECKPOINT");
    await write(WAITS);
    await cycles();
    await write(COMES_LATER);
    await cycles();
    await server.crash();
    await server.start();
    // By the server's own clock, which the test does not move.
    await sql(
      "UPDATE salesforce._bridge_state SET lease_until = pg_catalog.clock_timestamp() WHERE lease_until IS NOT NULL",
    );

    await expectEqual();
  });
});

const NO_REWIND: readonly (readonly [string, () => Promise<unknown>])[] = [
  ["a log that was pruned", () => world.sql("DELETE FROM salesforce._trigger_log")],
  ["31 idle days", () => world.pass(31 * 24 * 3600)],
  [
    "a mapping that was deleted and created again",
    async () => {
      for (const { id } of mappings) await world.api.ask(deleteMapping, "delete-mapping", { path: { mapping_id: id } });
      await world.carryOut();
      mappings = await world.map(...ASKED);
    },
  ],
];

test.each(NO_REWIND)("%s is no rewind", async (_, happens) => {
  const write = (name: string) =>
    world.sql("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ($1, $1)", [name]);
  mappings = await world.map(...ASKED);
  await write("Ada");
  await minutes(4);

  await happens();
  await write("Last");
  for (const _ of [1, 2]) await cycles();

  expect(await world.namesThere()).toEqual(["Ada", "Last"]);
  expect(await suspected()).toBe(false);
  expect(caughtUp()).toEqual(new Set());
});
