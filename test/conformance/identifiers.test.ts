import { Client } from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { firstInGate, isWholeGrid } from "../support/run/whole-grid.ts";
import { type RunningBridge, startRunningBridge } from "../support/worlds/running-bridge.ts";
import type { TestWorkspace } from "../support/worlds/workspace.ts";
import { NEVER_A_NAME, NEVER_A_TABLE, NEVER_AN_API_NAME, ODD_TABLES } from "./hostile-names.ts";

let bridge: RunningBridge;
let workspace: TestWorkspace;
let database: Client;
let before: readonly Relation[];
beforeAll(async () => {
  bridge = await startRunningBridge({ things: ODD_TABLES.length + 1 });
  workspace = await bridge.createWorkspace();
  database = new Client({ connectionString: bridge.database.url });
  await database.connect();
  await database.query(VICTIMS);
  before = await catalog();
});
afterAll(async () => {
  await database.end();
  await bridge.close();
});

const VICTIMS = `
  CREATE SCHEMA salesforce;
  CREATE TABLE salesforce.victim (id int PRIMARY KEY, name text);
  INSERT INTO salesforce.victim VALUES (1, 'unharmed');
  CREATE TABLE salesforce."contact; drop" (id int PRIMARY KEY);
  CREATE TABLE salesforce."Contact" (id int PRIMARY KEY);
  CREATE TABLE public.contact (id int PRIMARY KEY);
  CREATE TABLE public.victim (id int PRIMARY KEY)`;

interface Relation {
  readonly schema: string;
  readonly name: string;
  readonly columns: string;
  readonly triggers: string;
}

/** Every table and view that is not the system's, with its columns and triggers. */
async function catalog(): Promise<readonly Relation[]> {
  const { rows } = await database.query<Relation>(`
    SELECT n.nspname AS schema, c.relname AS name,
      (SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum)
       FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped) AS columns,
      coalesce((SELECT string_agg(tgname, ', ' ORDER BY tgname) FROM pg_trigger WHERE tgrelid = c.oid), '') AS triggers
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
      AND n.nspname NOT LIKE 'pg_toast%' ORDER BY 1, 2`);
  return rows;
}

const importing = (mappings: readonly object[]) =>
  bridge.request("POST", `/api/v1/t/${workspace.id}/config/import`, {
    token: workspace.token,
    body: { version: 1, mappings },
  });
const importingOne = (object_name: unknown, config: object) => importing([{ object_name, config }]);

const NEVER_A_FIELD = [...NEVER_A_NAME, ...NEVER_AN_API_NAME];
const name = { fields: { Name: {} } };

/** Each place of a config document that takes a name, and how it is named there. */
const PLACES: readonly [string, readonly string[], (hostile: string) => ReturnType<typeof importing>][] = [
  [
    "a table",
    [...NEVER_A_NAME, ...NEVER_A_TABLE],
    (hostile) => importingOne("Thing1__c", { ...name, bridge: { pg_table: hostile } }),
  ],
  ["an object", NEVER_A_FIELD, (hostile) => importingOne(hostile, name)],
  ["a field", NEVER_A_FIELD, (hostile) => importingOne("Thing1__c", { fields: { Name: {}, [hostile]: {} } })],
  ["an upsert field", NEVER_A_FIELD, (hostile) => importingOne("Thing1__c", { ...name, upsert_field: hostile })],
];

test.each(firstInGate(1, PLACES))(
  "hostile texts are refused as the name of %s, none of them by accident",
  async (_, names, offer) => {
    for (const hostile of names.filter((_, at) => isWholeGrid || at % 4 === 0)) {
      const answer = await offer(hostile);

      const is = { hostile, status: answer.status, code: answer.json?.error?.code };
      expect(is).toEqual({ hostile, status: 400, code: "VALIDATION_ERROR" });
      expect(answer.json?.error?.details).toHaveLength(1);
      expect(answer.text.length).toBeLessThan(2000);
    }
  },
);

const NO_TEXTS: readonly unknown[] = [null, 5, true, [], {}, ["Contact"], { toString: "Contact" }];

test.each(NO_TEXTS.map((value) => [value]))("%j is no name", async (value) => {
  expect((await importingOne(value, name)).status).toBe(400);
  expect((await importingOne("Thing1__c", { ...name, bridge: { pg_table: value } })).status).toBe(400);
});

test("after all of that the database is as it was", async () => {
  await bridge.host.settle();

  expect(await catalog()).toEqual(before);
  expect((await database.query("SELECT * FROM salesforce.victim")).rows).toEqual([{ id: 1, name: "unharmed" }]);
});

test("odd names that are proper become exactly the tables of these names, and touch no other", async () => {
  const mappings = ODD_TABLES.map((pg_table, at) => ({
    object_name: `Thing${at + 2}__c`,
    config: { ...name, bridge: { pg_table } },
  }));
  expect((await importing(mappings)).status).toBe(200);

  const isOld = (one: Relation) => before.some((old) => old.schema === one.schema && old.name === one.name);
  await vi.waitFor(
    async () => {
      const made = (await catalog()).filter((one) => !isOld(one) && !/^_(bridge|trigger_log)/.test(one.name));
      const ready = made.filter(({ columns, triggers }) => columns.includes("sfid") && triggers !== "");
      const names = ready.map(({ schema, name: relation }) => `${schema}.${relation}`);
      expect(names.toSorted()).toEqual(ODD_TABLES.map((table) => `salesforce.${table}`).toSorted());
    },
    { timeout: 300_000, interval: 250 },
  );

  expect((await catalog()).filter(isOld)).toEqual(before);
});
