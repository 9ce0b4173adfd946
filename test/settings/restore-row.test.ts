import type { ReadRowStoryData } from "bridge/api";
import { expect, test } from "vitest";
import type { RouteName } from "../../lib/http/routes.ts";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import type { Scope } from "../../lib/model/workspace/token.ts";
import { ask as askApi } from "../support/clients/ask.ts";
import { auditedIn } from "../support/clients/audit-page.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { firstInGate } from "../support/run/whole-grid.ts";
import type { SyncWorld } from "../support/worlds/sync-world.ts";
import { tokenFor } from "../support/worlds/workspace.ts";
import { aWorldForEachTest, mapped } from "../support/worlds/worlds.ts";

let world: SyncWorld;
let contact: Mapping;
aWorldForEachTest((made) => {
  ({ world } = made);
});

const FIRST = 4_294_967_297;
const CONTACT = { object: "Contact", fields: ["LastName", "External_Id__c"], upsertField: "External_Id__c" };

/** Contacts of these names with upsert values, synced, of a mapping with such settings. */
async function synced(names: readonly string[], bridge: Readonly<Record<string, unknown>> = {}) {
  contact = await mapped(world, { ...CONTACT, bridge });
  for (const [at, name] of names.entries())
    await world.sql(
      `INSERT INTO salesforce.contact (id, lastname, external_id__c) VALUES (${at + FIRST}, '${name}', 'K-${name}')`,
    );
  await cycle();
  return rows();
}

async function cycle() {
  await world.cycle(contact);
  await world.pass(5);
}

const ask = async (route: RouteName, key: unknown, scope: Scope = "operate") =>
  askApi(route, {
    token: await tokenFor(world.workspaceId, scope),
    path: { workspace_id: world.workspaceId, table: "contact", key: String(key) },
  });

const story = async (key: unknown) => dataOf<ReadRowStoryData>(await ask("read-row-story", key));
const restore = (key: unknown, scope?: Scope) => ask("restore-row", key, scope);
const rows = () => world.sql("SELECT id, sfid, lastname, external_id__c FROM salesforce.contact ORDER BY id");
const records = async () =>
  (await world.soql("SELECT LastName FROM Contact ORDER BY LastName")).map((one) => one["LastName"]);
const notes = () => world.sql("SELECT error, retry_at FROM salesforce._bridge_inbound_errors ORDER BY sfid");
const deleteInSalesforce = async (sfid: unknown) => {
  await world.colleague("DELETE", `/sobjects/Contact/${sfid}`);
  await cycle();
};

test("a record that a colleague deleted is found by id, key and upsert value, says who and until when, and comes back", async () => {
  const [ada] = await synced(["Ada", "Grace"]);
  await deleteInSalesforce(ada?.["sfid"]);

  const found = await Promise.all([ada?.["sfid"], FIRST, "K-Ada"].map(story));
  const asked = await restore("K-Ada");
  const waiting = await story(FIRST);
  await cycle();

  expect(found.map(({ sfid }) => sfid)).toEqual([ada?.["sfid"], ada?.["sfid"], ada?.["sfid"]]);
  for (const { restore: of } of found)
    expect(of).toMatchObject({ deleted_in: "salesforce", deleted_by: expect.stringMatching(/colleague/i), can: true });
  const { deleted_at, until } = found[0]?.restore ?? {};
  expect(Date.parse(String(until)) - Date.parse(String(deleted_at))).toBe(15 * 24 * 60 * 60_000);
  expect(dataOf(asked)).toMatchObject({ restored: "by_next_cycle", record_id: FIRST });
  expect(waiting.restore).toMatchObject({ can: false, until: null, why: expect.stringContaining("asked for already") });
  expect((await rows()).map(({ sfid, lastname }) => [sfid, lastname])).toContainEqual([ada?.["sfid"], "Ada"]);
  expect(await records()).toEqual(["Ada", "Grace"]);
  expect((await story("K-Ada")).restore).toBeNull();
  expect(await notes()).toEqual([]);
  const { entries } = await auditedIn(world.workspaceId, "rows.restored", 9);
  expect(entries.map(({ detail }) => detail)).toMatchObject([{ record_id: FIRST, sfid: ada?.["sfid"] }]);
});

test("a row's delete that was not sent is not sent, and the row is there at once under its key", async () => {
  const before = await synced(["Ada", "Grace"]);
  await world.sql(`BEGIN; SET LOCAL bridge.actor = 'bob'; DELETE FROM salesforce.contact WHERE id = ${FIRST}; COMMIT`);

  const { restore: shown } = await story("K-Ada");
  const asked = await restore(FIRST);
  const after = await rows();
  await cycle();
  await cycle();

  expect(shown).toMatchObject({ deleted_in: "postgres", deleted_by: "bob", until: null, can: true });
  expect(dataOf(asked)).toMatchObject({ restored: "now" });
  expect(after).toEqual(before);
  expect(await rows()).toEqual(before);
  expect(await records()).toEqual(["Ada", "Grace"]);
  expect(await world.sql("SELECT state FROM salesforce._trigger_log WHERE action = 'DELETE'")).toEqual([
    { state: "SUCCESS" },
  ]);
});

test.each(firstInGate(1, ["bidirectional", "pg_to_sf"] as const))(
  "a row whose delete was sent comes back under its key, with its record out of the recycle bin: %s",
  async (sync_direction) => {
    const before = await synced(["Ada", "Grace"], { sync_direction });
    await world.sql(`DELETE FROM salesforce.contact WHERE id = ${FIRST}`);
    await cycle();
    const binned = await records();

    const { restore: shown } = await story("K-Ada");
    const asked = await restore("K-Ada");
    await cycle();
    await cycle();

    expect(binned).toEqual(["Grace"]);
    expect(shown).toMatchObject({ deleted_in: "postgres", can: true, until: expect.any(String) });
    expect(dataOf(asked)).toMatchObject({ restored: "by_next_cycle" });
    expect(await records()).toEqual(["Ada", "Grace"]);
    expect(await rows()).toEqual(before);
    expect(await notes()).toEqual([]);
    expect(await world.sql("SELECT count(*)::int AS changes FROM salesforce._trigger_log")).toEqual([{ changes: 3 }]);
  },
);

test("what cannot come back is refused with the reason, and nothing is changed", async () => {
  const [ada, grace, emmy] = await synced(["Ada", "Grace", "Emmy"], { filter: "LastName != 'Out'" });
  await deleteInSalesforce(ada?.["sfid"]);
  await world.control("DELETE", "/recycle-bin");
  await world.colleague("PATCH", `/sobjects/Contact/${emmy?.["sfid"]}`, { LastName: "Out" });
  await cycle();
  const everything = async () => [
    await rows(),
    await world.sql("SELECT * FROM salesforce._bridge_inbound_errors"),
    await world.sql("SELECT id, state FROM salesforce._trigger_log"),
  ];
  const before = await everything();

  const refused = async (key: unknown) => (await restore(key)).json?.error;
  for (const [key, reason] of [
    [ada?.["sfid"], "recycle bin"],
    [emmy?.["sfid"], "left the mapping's filter"],
    [grace?.["id"], "are there"],
  ])
    expect(await refused(key)).toMatchObject({ code: "CONFLICT", message: expect.stringContaining(String(reason)) });
  expect(await refused("K-Nobody")).toMatchObject({ code: "NOT_FOUND" });
  expect((await restore(ada?.["sfid"], "read")).status).toBe(403);
  expect(await everything()).toEqual(before);
});

async function deletedAndAskedFor(names: readonly string[]) {
  const before = await synced(names);
  for (const { sfid } of before) await deleteInSalesforce(sfid);
  for (const { id } of before) await restore(id);
  return before.map(({ sfid }) => sfid);
}

/** A restore that was given up, with the reason. */
const GIVEN_UP = { error: expect.stringMatching(/^it was not restored: /), retry_at: null };

test("what Salesforce refuses in passing is asked for again a minute later, with the reason meanwhile", async () => {
  const sfids = await deletedAndAskedFor(["Ada", "Grace"]);
  await world.fault({ kind: "lockedRow", object: "Contact", times: 2 });

  await cycle();
  await cycle();
  const meanwhile = [await records(), await notes()];
  await world.pass(45); // beside the five seconds after each cycle
  await cycle();
  expect(await records()).toEqual([]);
  await world.pass(5);
  await cycle();

  const error = expect.stringMatching(/^RESTORE: it was not restored: [A-Z_]+/);
  const waits = { error, retry_at: expect.any(Date) };
  expect(meanwhile).toEqual([[], [waits, waits]]);
  expect((await rows()).map(({ sfid }) => sfid)).toEqual(sfids);
  expect(await notes()).toEqual([]);
});

test("and is given up after the sixth attempt, or at once where the record is gone for good", async () => {
  const [ada] = await deletedAndAskedFor(["Ada", "Grace"]);
  await world.fault({ kind: "lockedRow", object: "Contact", times: 0 });
  await cycle();
  await world.sql("UPDATE salesforce._bridge_inbound_errors SET attempts = attempts + 5 WHERE sfid = $1", [ada]);
  await world.pass(60);
  await cycle();
  const [first] = await notes();
  await world.control("DELETE", "/faults");
  await world.control("DELETE", "/recycle-bin");
  await world.pass(600);
  await cycle();

  expect(first).toEqual(GIVEN_UP);
  expect(await notes()).toEqual([GIVEN_UP, GIVEN_UP]);
  expect(await rows()).toEqual([]);
});

test.each([
  [
    "Salesforce refuses as a whole ends its restores with the reason",
    { kind: "malformedRequest", path: "services/Soap" },
  ],
  ["gets no answer is repeated later", { kind: "unavailable", path: "services/Soap", record: "undelete" }],
] as const)("a call that %s, and holds up neither pulls nor pushes", async (_, fault) => {
  const [sfid] = await deletedAndAskedFor(["Ada"]);
  await world.sql("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('Emmy', 'K-Emmy')");
  await world.colleague("POST", "/sobjects/Contact", { LastName: "Late" });
  await world.fault({ ...fault, times: 1 });

  await cycle();
  const meanwhile = [await records(), (await rows()).map(({ lastname }) => lastname)];
  if (fault.kind === "malformedRequest") {
    expect(await notes()).toEqual([GIVEN_UP]);
    await askApi("retry-inbound", {
      token: await tokenFor(world.workspaceId, "operate"),
      path: { workspace_id: world.workspaceId, mapping_id: contact.id },
      query: { sfid: String(sfid) },
    });
  } else await world.pass(60);
  await cycle();

  expect(meanwhile).toEqual([
    ["Emmy", "Late"],
    ["Emmy", "Late"],
  ]);
  expect((await rows()).map((row) => row["sfid"])).toContain(sfid);
  expect(await notes()).toEqual([]);
});

test("restores that wait hold up no record that is read again, and no trouble of their rows ends them", async () => {
  await deletedAndAskedFor(["Ada"]);
  const { id } = (await world.colleague("POST", "/sobjects/Contact", { LastName: "Late" })) as { id: string };
  await world.sql(
    `INSERT INTO salesforce._bridge_inbound_errors (mapping_id, sfid, error, retry_at, first_at, last_at)
     SELECT $1, '003000000000' || lpad(n::text, 6, '0'), 'RESTORE: waits', now() - interval '9 years', now(), now()
     FROM generate_series(1, 300) n
     UNION ALL SELECT $1, $2, 'to be read', now() - interval '1 year', now(), now()`,
    [contact.id, id],
  );
  await cycle();

  expect((await notes()).filter(({ error }) => error === "to be read")).toEqual([]);
  expect((await rows()).map(({ lastname }) => lastname)).toContain("Late");
});

test("a mapping that only reads since ends the restores that it was asked for, and takes no other: it says where", async () => {
  await deletedAndAskedFor(["Ada"]);
  await world.sql("UPDATE salesforce._bridge_inbound_errors SET retry_at = now() - interval '9 years'");
  [contact = contact] = await world.map({ ...CONTACT, bridge: { sync_direction: "sf_to_pg" } });

  await cycle();

  expect(await notes()).toEqual([{ error: "it was not restored: the mapping only reads now", retry_at: null }]);
  const refused = await restore("K-Ada");
  expect(refused.json?.error).toMatchObject({ code: "CONFLICT", message: expect.stringContaining("only reads") });
  expect((await story("K-Ada")).restore).toMatchObject({ why: expect.stringContaining("undelete the record") });
});
