import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { handler as deleteMapping } from "../../../functions/api/delete-mapping.ts";
import { handler as setPostgres } from "../../../functions/api/set-postgres.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { apiClient } from "../../support/clients/api-client.ts";
import { hasBaseBackup, type OwnServer, ownServer } from "../../support/run/server-of-ours.ts";
import { carryOut } from "../../support/worlds/carry-out.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest } from "../../support/worlds/worlds.ts";

const ASKED = [
  { object: "Contact", fields: ["LastName", "Email", "External_Id__c"], upsertField: "External_Id__c" },
  { object: "Account", fields: ["Name", "Phone"] },
];

let world: SyncWorld;
let mappings: Mapping[];
aWorldForEachTest((made) => {
  ({ world } = made);
});

const cycles = async () => {
  for (const mapping of mappings) await world.cycle(mapping);
};
const states = async () =>
  Promise.all(mappings.map(async ({ id }) => (await world.services.engine.read(world.workspaceId, id)).engine.state));
const said = (text: string) => world.log.filter((line) => JSON.stringify(line).includes(text)).length;
const TAIL = "the database has lost its last moments";

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
    const api = await apiClient(world.workspaceId);
    const answer = await api.ask(setPostgres, "set-postgres", { body: { url: to.url, schema: "salesforce" } });
    expect(answer.status, answer.text).toBe(200);
    await carryOut(world.cloud, world.services);
  }

  async function sql(text: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const client = new Client({ connectionString: server.url });
    await client.connect();
    return (await client.query(text).finally(() => client.end())).rows;
  }

  /** Changes of the application, captured by the clock of the test. */
  async function write(text: string): Promise<void> {
    await sql(text);
    const at = new Date(world.services.clock.now()).toISOString();
    await sql(
      `UPDATE salesforce._trigger_log SET created_at = '${at}' WHERE created_at > '${at}'::timestamptz + interval '1 day'`,
    );
  }

  async function map(): Promise<void> {
    await connect(server);
    mappings = await world.map(...ASKED);
    await sql("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('Ada', 'a'), ('Bo', 'b')");
    await sql("INSERT INTO salesforce.account (name) VALUES ('One'), ('Two')");
    for (const _ of [1, 2]) await cycles();
    for (const _ of [1, 2, 3, 4, 5]) {
      await world.pass(60);
      await cycles();
    }
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
    for (const [table, object, columns] of [
      ["contact", "Contact", ["LastName", "Email", "External_Id__c"]],
      ["account", "Account", ["Name", "Phone"]],
    ] as const) {
      const rows = await sql(`SELECT sfid, ${columns.join(", ")} FROM salesforce.${table} ORDER BY sfid`);
      const records = await world.soql(`SELECT Id, ${columns.join(", ")} FROM ${object} ORDER BY Id`);
      expect(rows.map((row) => Object.values(row))).toEqual(records.map((record) => Object.values(record)));
    }
    const left = await sql("SELECT state, sf_message FROM salesforce._trigger_log WHERE state <> 'SUCCESS'");
    expect(left).toEqual(failed.map((sf_message) => ({ state: "FAILED", sf_message })));
    expect((await states()).map(({ brokenSince, rewoundAt }) => ({ brokenSince, rewoundAt }))).toEqual([
      { brokenSince: null, rewoundAt: null },
      { brokenSince: null, rewoundAt: null },
    ]);
  }

  test("a promoted standby that had not received the last moments is caught up: nothing old is sent, nothing twice", async () => {
    server = await ownServer(folder, { wal_level: "replica" });
    servers.push(server);
    await map();
    const standby = await server.standby();
    servers.push(standby);
    await standby.start();
    await write(WAITS);
    const [at] = await server.query("SELECT pg_current_wal_lsn()::text AS lsn");
    for (let caughtUp = false; !caughtUp; )
      [caughtUp = false] = (await standby.query(`SELECT pg_last_wal_replay_lsn() >= '${at?.["lsn"]}' AS there`)).map(
        ({ there }) => there === true,
      );
    await standby.crash();
    await cycles();
    await write(COMES_LATER);
    await cycles();
    await server.crash();
    await standby.start();
    await standby.promote();
    server = standby;
    await connect(server);

    // The standby has the first of two changes, and no answer of either: whether the first was sent cannot be known.
    await expectEqual(["CONFLICT: Salesforce changed the same fields, and wins [email]"]);

    const lines = world.log.filter((line) => JSON.stringify(line).includes(TAIL)).map((line) => line["sf_object"]);
    expect(new Set(lines)).toEqual(new Set(["Account", "Contact"]));
    expect(await world.soql("SELECT Email FROM Contact WHERE External_Id__c = 'a'")).toEqual([
      { Email: "second@example.com" },
    ]);
    expect((await world.soql("SELECT Name FROM Account ORDER BY Name")).map(({ Name }) => Name)).toEqual([
      "Four",
      "One",
      "Three",
      "Two",
    ]);
  });

  test("a crash of a server that commits asynchronously loses no change that was sent, and sends none twice", async () => {
    server = await ownServer(folder, { synchronous_commit: "off", wal_writer_delay: "10s" });
    servers.push(server);
    await map();
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

describe("what is no rewind", () => {
  const written = async () =>
    world.sql("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('Last', 'z')");

  beforeEach(async () => {
    mappings = await world.map(...ASKED);
    await world.sql("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('Ada', 'a')");
    for (const _ of [1, 2, 3, 4]) {
      await cycles();
      await world.pass(60);
    }
  });

  test.each<readonly [string, () => Promise<unknown>]>([
    ["a log that was pruned", () => world.sql("DELETE FROM salesforce._trigger_log")],
    ["31 idle days", () => world.pass(31 * 24 * 3600)],
    [
      "a mapping that was deleted and created again",
      async () => {
        const api = await apiClient(world.workspaceId);
        for (const { id } of mappings) await api.ask(deleteMapping, "delete-mapping", { path: { mapping_id: id } });
        await carryOut(world.cloud, world.services);
        mappings = await world.map(...ASKED);
      },
    ],
  ])("%s", async (_, happens) => {
    await happens();
    await written();
    for (const _ of [1, 2]) await cycles();

    expect(await world.soql("SELECT LastName FROM Contact ORDER BY LastName")).toEqual([
      { LastName: "Ada" },
      { LastName: "Last" },
    ]);
    expect((await states()).every(({ brokenSince, rewoundAt }) => brokenSince === null && rewoundAt === null)).toBe(
      true,
    );
    expect(said(TAIL)).toBe(0);
  });
});
