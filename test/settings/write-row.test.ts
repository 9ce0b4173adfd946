import type { ReadRowStoryData } from "bridge/api";
import { beforeEach, expect, test } from "vitest";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { askingIn } from "../support/clients/ask.ts";
import { auditedIn } from "../support/clients/audit-page.ts";
import { dataOf } from "../support/clients/data-of.ts";
import type { SyncWorld } from "../support/worlds/sync-world.ts";
import { tokenFor } from "../support/worlds/workspace.ts";
import { aWorldForEachTest, mapped } from "../support/worlds/worlds.ts";

let world: SyncWorld;
let contact: Mapping;
let token: string;
aWorldForEachTest(async (made) => {
  ({ world } = made);
  token = await tokenFor(world.workspaceId, "operate");
});

/** Keys beyond 32 bits, of two mappings that have the same ones. */
const KEY = 4_294_967_297;

beforeEach(async () => {
  contact = await mapped(world, { object: "Contact", fields: ["LastName", "Email", "Birthdate", "Name"] });
  await mapped(world, { object: "Account", fields: ["Name", "AnnualRevenue"], bridge: { sync_direction: "sf_to_pg" } });
  await world.sql(`INSERT INTO salesforce.contact (id, lastname, email) VALUES (${KEY}, 'Lovelace', 'nowhere')`);
  await world.sql(`INSERT INTO salesforce.account (id, name, annualrevenue) VALUES (${KEY}, 'Acme', 1)`);
  await world.cycle(contact);
});

const ask = askingIn(() => ({ id: world.workspaceId, token }));
const write = (body: object, { table = "contact", key = String(KEY), ...by }: { [name: string]: string } = {}) =>
  ask("write-row", { path: { table, key }, body, ...by });

const everything = () =>
  world.sql(
    `SELECT to_jsonb(c) AS row, (SELECT count(*)::int FROM salesforce._trigger_log) AS changes FROM salesforce.contact c
     UNION ALL SELECT to_jsonb(a), 0 FROM salesforce.account a`,
  );

const story = async () =>
  dataOf<ReadRowStoryData>(await ask("read-row-story", { path: { table: "contact", key: String(KEY) } }));

test("a refused value is shown with its rule, and the one that is written instead is sent in the name of who wrote it", async () => {
  const { refused } = await story();
  const answer = await write({ values: { email: "ada@example.com" }, was: { email: "nowhere" } });
  await world.cycle(contact);

  expect(refused?.message).toMatch(/^INVALID_EMAIL_ADDRESS/);
  expect(refused?.columns).toEqual([
    { column: "email", field: "Email", rule: "an e-mail address of at most 80 characters" },
  ]);
  const { change_id } = dataOf<{ change_id: number }>(answer);
  const [change] = await world.sql(`SELECT * FROM salesforce._trigger_log WHERE id = ${change_id}`);
  expect(change).toMatchObject({ state: "SUCCESS", actor: "ada@example.com", values: { email: "ada@example.com" } });
  expect(await world.soql("SELECT LastName, Email FROM Contact")).toMatchObject([
    { LastName: "Lovelace", Email: "ada@example.com" },
  ]);
  expect((await story()).refused).toBeNull();
  const { entries } = await auditedIn(world.workspaceId, "rows.written", 9);
  expect(entries.map(({ detail }) => detail)).toMatchObject([{ record_id: KEY, columns: ["email"] }]);
});

test("several columns are one change, NULL is a value, and the row of the same key in another table stays as it is", async () => {
  const before = await world.sql("SELECT * FROM salesforce.account");
  const answer = await write({ values: { email: null, birthdate: "1815-12-10" } }, { table: "Contact" });

  expect(dataOf(answer)).toMatchObject({ table_name: "contact", sf_object: "Contact", record_id: KEY });
  expect(await world.sql("SELECT email, birthdate::text FROM salesforce.contact")).toEqual([
    { email: null, birthdate: "1815-12-10" },
  ]);
  const log = await world.sql("SELECT action FROM salesforce._trigger_log WHERE table_name = 'contact' ORDER BY id");
  expect(log).toEqual([{ action: "INSERT" }, { action: "UPDATE" }]);
  expect(await world.sql("SELECT * FROM salesforce.account")).toEqual(before);
});

const BAD_VALUES: readonly (readonly [what: string, body: object, column: string, message: RegExp])[] = [
  ["a value that PostgreSQL cannot read", { values: { birthdate: "soon" } }, "birthdate", /invalid input syntax/],
  ["one beside a good one", { values: { email: "a@b.example", birthdate: "soon" } }, "birthdate", /invalid input/],
  ["a text that the column is too short for", { values: { email: "x".repeat(81) } }, "email", /too long/],
  ["a column that is not mapped", { values: { emial: "a@b.example" } }, "emial", /the nearest is email/],
  ["a column of Bridge's own", { values: { sfid: "003000000000001AAA" } }, "sfid", /no mapped column/],
  ["the key", { values: { id: "7" } }, "id", /no mapped column/],
  ["a name that is SQL", { values: { 'email" = NULL --': "x" } }, 'email" = NULL --', /no mapped column/],
  ["what every object has", { values: { constructor: "x" } }, "constructor", /no mapped column/],
  ["a field that Salesforce computes", { values: { name: "Ada" } }, "name", /read-only/],
];

const REFUSED: readonly (readonly [what: string, body: object, where: Parameters<typeof write>[1], status: number])[] =
  [
    ["a value that has changed since it was read", { values: { email: "a@b.example" }, was: { email: "x" } }, {}, 409],
    ["what the row holds already", { values: { email: "nowhere" } }, {}, 409],
    ["a row that is not there", { values: { email: "a@b.example" } }, { key: "5" }, 404],
    ["a row by its upsert value", { values: { email: "a@b.example" } }, { key: "Lovelace" }, 404],
    ["a table that is not mapped", { values: { email: "a@b.example" } }, { table: "nowhere" }, 404],
    ["any table", { values: { email: "a@b.example" } }, { table: "-" }, 404],
    ["no value", { values: {} }, {}, 400],
    ["a number for a text", { values: { email: 7 } }, {}, 400],
    ["what is not written", { values: { email: "a@b.example" }, was: { lastname: "Lovelace" } }, {}, 400],
  ];

test("a bad value is refused by its column's name, a request that is none as a whole, and nothing is changed", async () => {
  const before = await everything();

  for (const [what, body, column, message] of BAD_VALUES) {
    const { status, json } = await write(body);
    expect([what, status, json?.error?.code]).toEqual([what, 400, "VALIDATION_ERROR"]);
    const details = [{ path: `body.values.${column}`, message: expect.stringMatching(message) }];
    expect([what, json?.error?.details]).toEqual([what, details]);
  }
  for (const [what, body, where, status] of REFUSED) {
    expect([what, (await write(body, where)).status]).toEqual([what, status]);
  }
  const reader = await tokenFor(world.workspaceId, "read");
  expect((await write({ values: { email: "a@b.example" } }, { token: reader })).status).toBe(403);

  expect(await everything()).toEqual(before);
});

test("a rule of the application's own refuses in its words; a write that no trigger captures, or whose mapping only reads, is undone", async () => {
  await world.sql("ALTER TABLE salesforce.contact ADD CONSTRAINT grown_up CHECK (birthdate < '2000-01-01')");
  const refused = await write({ values: { birthdate: "2024-01-01" } });
  await world.sql("ALTER TABLE salesforce.contact DISABLE TRIGGER ALL");
  const before = await everything();
  const uncaptured = await write({ values: { email: "a@b.example" } });
  const readOnly = await write({ values: { name: "Grace" } }, { table: "account" });

  expect(refused.json?.error?.message).toMatch(/^body\.values\.birthdate: .*grown_up/);
  expect(uncaptured.json?.error).toMatchObject({ code: "CONFLICT", message: expect.stringContaining("not captured") });
  expect(readOnly.json?.error).toMatchObject({ code: "CONFLICT", message: expect.stringContaining("only reads") });
  expect(await everything()).toEqual(before);
});
