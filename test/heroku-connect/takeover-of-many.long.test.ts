import { expect, test, vi } from "vitest";
import { herokuConnectSchemas, workspaces } from "../../functions/services/composition.ts";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { AS_HEROKU_CONNECT, AS_THE_APPLICATION, herokuConnectSchema } from "../support/worlds/heroku-connect.ts";
import { createSyncWorld, type Row, type SyncWorld } from "../support/worlds/sync-world.ts";
import { sqlOf, WAY_BACK } from "./their-database.ts";

/*
 * A takeover of many mappings at once, as a role that owns its schema and no more. `TAKEOVER=200,1000000,10000` says how
 * many mappings, rows and waiting changes; `POSTGRES_PROGRAMS` names another server's programs.
 */
const [MAPPINGS = 20, ROWS = 10_000, WAITING = 1_000] = (process.env["TAKEOVER"] ?? "20,10000,1000")
  .split(",")
  .map(Number);
const EACH = Math.ceil(ROWS / MAPPINGS);
const CHANGED = Math.ceil(WAITING / MAPPINGS);

vi.setConfig({ testTimeout: 4 * 3_600_000, hookTimeout: 600_000 });

const OBJECTS = Array.from({ length: MAPPINGS }, (_, at) => `Moved${at + 1}__c`);
const DEFINITION = {
  objects: OBJECTS.map((name) => ({
    name,
    fields: [
      { name: "Code__c", type: "text", length: 20, externalId: true, unique: true },
      { name: "Note__c", type: "text", length: 80 },
    ],
  })),
};
const COLUMNS = { name: "varchar(80)", code__c: "varchar(20)", note__c: "varchar(80)" };

test(`${MAPPINGS} mappings with ${ROWS} rows and ${WAITING} waiting changes are taken over at once, and given back`, async () => {
  const cloud = await startBridgeCloud();
  const options = { isBefore: true, dailyApiRequests: 10_000_000, definition: DEFINITION as never };
  const world = await createSyncWorld(cloud, options);
  await heroku(world, cloud);
  const { postgres } = (await (await workspaces().find(world.workspaceId))?.open()) ?? {};
  if (!postgres) throw new Error("the test's workspace is not connected");

  const adopt = await timed(world, () => herokuConnectSchemas.adopt(postgres, world.workspaceId));
  const take = await timed(world, () =>
    world.map(...OBJECTS.map((object) => ({ object, fields: ["Name", "Code__c", "Note__c"], upsertField: "Code__c" }))),
  );
  const { takenOver } = await herokuConnectSchemas.look(postgres);
  const send = await timed(world, () => untilSent(world, take.answer));
  const different = await differences(world);
  const back = await timed(world, () => world.sql(sqlOf(WAY_BACK)));
  await world.sql("UPDATE salesforce.moved1__c SET note__c = 'theirs again' WHERE code__c = 'C-0'");

  const locked = takenOver.map(({ lockedMs }) => lockedMs ?? Number.NaN).sort((one, other) => one - other);
  const [version] = await world.sql("SHOW server_version");
  const lines = [
    `PostgreSQL ${version?.["server_version"]}: ${MAPPINGS} mappings, ${EACH * MAPPINGS} rows, ${CHANGED * MAPPINGS} waiting changes`,
    `all tables locked against writes (SHARE ROW EXCLUSIVE), at most ${adopt.seconds} s, ${adopt.calls} calls`,
    `all tables taken over: ${take.seconds} s, ${take.calls} calls`,
    `each table locked (ACCESS EXCLUSIVE): median ${locked[Math.floor(locked.length / 2)]} ms, longest ${locked.at(-1)} ms`,
    `waiting changes sent: ${send.seconds} s, ${send.calls} calls`,
    `the way back: ${back.seconds} s`,
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
  expect(locked).toHaveLength(MAPPINGS);
  expect(different).toEqual([]);
  expect(await differences(world, OBJECTS.slice(0, 2))).toEqual(["Moved1__c"]);
  expect(
    await world.sql(`SELECT count(*) FILTER (WHERE tgname LIKE 'hc\\_%')::int AS theirs, count(*) FILTER (WHERE tgname ~ 'bridge')::int AS ours
      FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE c.relnamespace = 'salesforce'::regnamespace AND NOT tgisinternal`),
  ).toEqual([{ theirs: 2 * MAPPINGS, ours: 0 }]);
  expect(await world.sql("SELECT table_name, action, state FROM salesforce._trigger_log WHERE state = 'NEW'")).toEqual([
    { table_name: "moved1__c", action: "UPDATE", state: "NEW" },
  ]);
  await world.close();
  await cloud.close();
});

/** What Heroku Connect leaves: rows equal to their records, and changes of three kinds that the application made since. */
async function heroku(world: SyncWorld, cloud: BridgeCloud): Promise<void> {
  const tables = OBJECTS.map((object) => ({ table: object.toLowerCase(), columns: COLUMNS, upsertColumn: "code__c" }));
  await world.sql(herokuConnectSchema(tables));
  for (const object of OBJECTS) {
    const table = `salesforce.${object.toLowerCase()}`;
    await world.createRecords(
      object,
      Array.from({ length: EACH }, (_, at) => ({ Name: `Row ${at}`, Code__c: `C-${at}` })),
    );
    await world.sql(`${AS_HEROKU_CONNECT}; ALTER TABLE ${table} DISABLE TRIGGER USER`); // which would capture none of it
    await world.sql(
      `INSERT INTO ${table} (sfid, name, code__c, systemmodstamp, isdeleted)
       SELECT "Id", "Name", "Code__c", "SystemModstamp"::timestamptz AT TIME ZONE 'UTC', false
       FROM jsonb_to_recordset($1) AS r ("Id" text, "Name" text, "Code__c" text, "SystemModstamp" text)`,
      [JSON.stringify(await records(world, object, "Id, Name, Code__c, SystemModstamp"))],
    );
    await world.sql(`${AS_THE_APPLICATION}; ALTER TABLE ${table} ENABLE TRIGGER USER`);
    await change(world, object.toLowerCase());
  }
  await cloud.clock.advance({ seconds: 3600 });
}

/** Half of them updates, a quarter deletes, a quarter inserts. */
async function change(world: SyncWorld, table: string): Promise<void> {
  const quarter = Math.floor(CHANGED / 4);
  await world.sql(`UPDATE salesforce.${table} SET note__c = 'changed' WHERE substr(code__c, 3)::int < $1`, [
    CHANGED - 2 * quarter,
  ]);
  await world.sql(`DELETE FROM salesforce.${table} WHERE substr(code__c, 3)::int >= $1`, [EACH - quarter]);
  await world.sql(
    `INSERT INTO salesforce.${table} (name, code__c) SELECT 'New ' || n, 'C-' || (1000000 + n) FROM generate_series(1, $1) AS n`,
    [quarter],
  );
}

/** Cycles of each mapping until nothing of it waits. */
async function untilSent(world: SyncWorld, mappings: readonly Mapping[]): Promise<void> {
  const open = "SELECT FROM salesforce._trigger_log WHERE table_name = $1 AND processed_at IS NULL LIMIT 1";
  for (const mapping of mappings) {
    let cycles = 0;
    do {
      if (cycles++ === 20) throw new Error(`${mapping.sfObject} still has changes that wait`);
      await world.cycle(mapping);
    } while ((await world.sql(open, [mapping.pgTable])).length > 0);
  }
}

/** Those of the objects whose rows and records are not the same. */
async function differences(world: SyncWorld, objects = OBJECTS): Promise<readonly string[]> {
  const different: string[] = [];
  for (const object of objects) {
    const there = await records(world, object, "Id, Name, Code__c, Note__c");
    const here = await world.sql(
      `SELECT sfid AS "Id", name AS "Name", code__c AS "Code__c", note__c AS "Note__c" FROM salesforce.${object.toLowerCase()}`,
    );
    const inOrder = (rows: readonly Row[]) => rows.map((row) => JSON.stringify(row)).sort();
    if (inOrder(there).join("\n") !== inOrder(here).join("\n")) different.push(object);
  }
  return different;
}

async function records(world: SyncWorld, object: string, fields: string): Promise<readonly Row[]> {
  const found: Row[] = [];
  let next: string | undefined = `/query?q=${encodeURIComponent(`SELECT ${fields} FROM ${object}`)}`;
  while (next !== undefined) {
    const page = (await world.rest("GET", next)) as { records: Row[]; nextRecordsUrl?: string };
    found.push(...page.records.map(({ attributes: _, ...record }) => record));
    next = page.nextRecordsUrl?.replace(/^.*(?=\/query\/)/, "");
  }
  return found;
}

async function timed<Answer>(world: SyncWorld, work: () => Promise<Answer>) {
  const [begun, calls] = [performance.now(), await world.calls()];
  const answer = await work();
  const seconds = Math.round((performance.now() - begun) / 100) / 10;
  return { answer, seconds, calls: (await world.calls()) - calls };
}
