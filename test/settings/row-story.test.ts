import type { ReadRowStoryData } from "bridge/api";
import { expect, test } from "vitest";
import { now } from "../../functions/services/composition.ts";
import { askingIn } from "../support/clients/ask.ts";
import { dataOf } from "../support/clients/data-of.ts";
import type { SyncWorld } from "../support/worlds/sync-world.ts";
import { tokenFor } from "../support/worlds/workspace.ts";
import { aWorldForEachTest, mapped } from "../support/worlds/worlds.ts";

let world: SyncWorld;
let token: string;
aWorldForEachTest(async (at) => {
  world = at.world;
  token = await tokenFor(world.workspaceId, "operate");
});

const CONTACT = { object: "Contact", fields: ["LastName", "Email", "Phone"] } as const;

const ask = askingIn(() => ({ id: world.workspaceId, token }));
const askStory = (key: string, table = "contact") => ask("read-row-story", { path: { table, key } });
const storyOf = async (key: string, table?: string) => dataOf<ReadRowStoryData>(await askStory(key, table));
/** Writes as of the world's time: the database has its own. */
const write = async (sql: string) => {
  await world.sql(sql);
  await world.sql(
    `UPDATE salesforce._trigger_log SET created_at = '${now().toISOString()}' WHERE created_at > clock_timestamp() - interval '1 min'`,
  );
};
/** Oldest first. */
const tale = ({ events }: ReadRowStoryData) =>
  events.toReversed().map(({ from, kind, text }) => `${from} ${kind}: ${text}`);

test("a row's story keeps the refusal after the repair, says who wrote, and shows both sides", async () => {
  const contact = await mapped(world, CONTACT);
  await write("INSERT INTO salesforce.contact (lastname) VALUES ('Lovelace')");
  await world.cycle(contact);
  await world.pass(5);
  await write("UPDATE salesforce.contact SET email = 'nowhere'");
  await world.cycle(contact);
  await world.pass(5);
  const refused = await storyOf("1");
  await write("BEGIN; SET LOCAL bridge.actor = 'ada'; UPDATE salesforce.contact SET email = 'ada@example.com'; COMMIT");
  await world.cycle(contact);

  const story = await storyOf("1");

  expect(refused.events.filter(({ state }) => state === "FAILED").length).toBe(2);
  expect(tale(story)).toEqual([
    "postgres change: the row was inserted",
    "salesforce attempt: Salesforce took it",
    "postgres change: the row was updated email",
    expect.stringMatching(/^salesforce attempt: Salesforce refused it: INVALID_EMAIL_ADDRESS/),
    "postgres change: the row was updated email",
    "salesforce attempt: Salesforce took it",
    "salesforce attempt: Salesforce took it",
  ]);
  expect(story).toMatchObject({
    record_id: 1,
    sfid: expect.stringMatching(/^003/),
    remedy: null,
    row: "present",
    record: "present",
    last_modified_by: expect.any(String),
    salesforce_url: expect.stringMatching(/^http.*\/lightning\/r\/Contact\/003.{15}\/view$/),
  });
  const both = { postgres: "ada@example.com", salesforce: "ada@example.com", equal: true };
  expect(story.values).toContainEqual({ field: "Email", column: "email", ...both });
  expect(story.events.find(({ by }) => by === "ada")).toMatchObject({ kind: "change", state: "SUCCESS" });
});

test("a retried change keeps each refusal, and a change that lost a conflict says what won", async () => {
  const contact = await mapped(world, CONTACT);
  const cycle = async () => {
    await world.cycle(contact);
    await world.pass(60);
  };
  await write("INSERT INTO salesforce.contact (lastname, phone) VALUES ('Base', '1')");
  await cycle();
  await cycle();
  const [row] = await world.sql("SELECT sfid FROM salesforce.contact");
  await world.rest("PATCH", `/sobjects/Contact/${row?.["sfid"]}`, { Phone: "22" });
  await write("UPDATE salesforce.contact SET phone = '333'");
  await cycle();
  await cycle();
  await world.rest("PATCH", `/sobjects/Contact/${row?.["sfid"]}`, { Phone: "4444" });
  await write("UPDATE salesforce.contact SET phone = '55555', lastname = 'Byron'");
  await cycle();
  await world.sql("UPDATE salesforce.contact SET email = 'nowhere'");
  await cycle();
  await ask("retry-rows", { body: { table: "contact" } });
  await cycle();

  const texts = tale(await storyOf(String(row?.["sfid"])));

  expect(texts).toContain('bridge conflict: phone: you wrote "333", Salesforce\'s "22" won');
  expect(texts).toContain('salesforce attempt: it was not sent: phone: you wrote "333", Salesforce\'s "22" won');
  expect(texts).toContain(
    'salesforce attempt: Salesforce took the rest, without: phone: you wrote "55555", Salesforce\'s "4444" won',
  );
  expect(texts.filter((text) => text.includes("INVALID_EMAIL_ADDRESS")).length).toBe(2);
});

test("a row is found by id, short id, key and upsert value, and one that is gone by what is left of it", async () => {
  const [fields, upsertField] = [["LastName", "External_Id__c"], "External_Id__c"];
  const contact = await mapped(world, { ...CONTACT, fields, upsertField });
  await write("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('Lovelace', 'L-1')");
  await world.cycle(contact);
  const [row] = await world.sql("SELECT sfid FROM salesforce.contact");
  const sfid = String(row?.["sfid"]);

  const found = await Promise.all([sfid, sfid.slice(0, 15), "1", "L-1"].map((key) => storyOf(key)));
  found.push(await storyOf("1", contact.id));
  await write("DELETE FROM salesforce.contact");
  await world.cycle(contact);
  const gone = await storyOf(sfid);
  const unknown = await askStory("77");
  const elsewhere = await askStory("1", "nowhere");

  await write("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('Curie', 'C-2')");
  const total = async (query: Record<string, string>) => (await ask("list-activity", { query })).json?.meta?.total;
  const single = [{ sfid }, { row: "1" }, { row: "2" }, { key: "C-2" }];
  const totals = await Promise.all([...single, { key: "C-2", row: "1" }, { row: "2", state: "SUCCESS" }].map(total));

  expect(found.map(({ record_id }) => record_id)).toEqual([1, 1, 1, 1, 1]);
  expect(totals).toEqual([2, 2, 1, 1, 0, 0]);
  expect(gone).toMatchObject({ record_id: 1, row: "absent", record: "deleted" });
  expect(tale(gone)).toContainEqual("postgres deleted: the record was deleted: its row was deleted");
  expect([unknown.status, elsewhere.status]).toEqual([404, 404]);
  expect(unknown.json?.error).toMatchObject({ message: expect.stringContaining('contact has no row "77"') });
});

test("what Salesforce changes in a row is reported with old and new value and its user, unless the mapping keeps no history", async () => {
  const contact = await mapped(world, CONTACT);
  await world.createRecords("Contact", [{ LastName: "Lovelace", Phone: "1" }]);
  await world.cycle(contact);
  const [{ Id: sfid } = {}] = await world.soql("SELECT Id FROM Contact");
  await world.pass(60);
  await world.rest("PATCH", `/sobjects/Contact/${sfid}`, { Phone: "22" });
  await world.cycle(contact);
  const kept = await storyOf(String(sfid));
  await world.pass(60);
  await world.rest("PATCH", `/sobjects/Contact/${sfid}`, { Phone: "333" });
  await world.cycle(contact);
  const later = await storyOf(String(sfid));

  const account = await mapped(world, { object: "Account", fields: ["Name"], bridge: { keep_history: false } });
  await world.createRecords("Account", [{ Name: "Acme" }]);
  await world.cycle(account);
  await world.pass(60);
  const [{ Id: accountId } = {}] = await world.soql("SELECT Id FROM Account");
  await world.rest("PATCH", `/sobjects/Account/${accountId}`, { Name: "Apex" });
  await world.cycle(account);

  const unkept = await storyOf(String(accountId), "account");

  expect(tale(kept)).toEqual(["salesforce pulled: Salesforce changed phone"]);
  const fields = [{ column: "phone", before: "1", after: "22" }];
  expect(kept.events[0]).toMatchObject({ by: expect.any(String), fields });
  expect(
    later.events.map(({ by }) => by),
    "the record names its last writer alone",
  ).toEqual([kept.events[0]?.by, null]);
  expect(unkept.values).toEqual([{ field: "Name", column: "name", postgres: "Apex", salesforce: "Apex", equal: true }]);
  expect(unkept.events).toEqual([]);
});
