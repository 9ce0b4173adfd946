import { expect, test } from "vitest";
import { handler as readStory } from "../../functions/api/read-row-story.ts";
import { handler as restoreRow } from "../../functions/api/restore-row.ts";
import { now, pepper, tokens } from "../../functions/services/composition.ts";
import { createToken } from "../../lib/access/create-token.ts";
import type { RouteName } from "../../lib/http/routes.ts";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import type { Scope } from "../../lib/model/workspace/token.ts";
import { auditPage } from "../support/clients/audit-page.ts";
import { call } from "../support/clients/call.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { longTest } from "../support/run/whole-grid.ts";
import type { SyncWorld } from "../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../support/worlds/worlds.ts";

let world: SyncWorld;
let contact: Mapping;
let tokenOf: (scope: Scope) => Promise<string>;
aWorldForEachTest(async (at) => {
  world = at.world;
  const asked = { name: "test", owner: "ada@example.com", actor: "ada@example.com", validUntil: null };
  tokenOf = async (scope) =>
    (
      await createToken(
        { tokens: tokens(), pepper: pepper() },
        { workspaceId: world.workspaceId, at: now(), ...asked, scopes: [scope] },
      )
    ).token;
});

/** Contacts of these names with upsert values, synced, of a mapping with such settings. */
async function synced(names: readonly string[], bridge: Readonly<Record<string, unknown>> = {}) {
  const fields = ["LastName", "External_Id__c"];
  contact = await mapped(world, { object: "Contact", fields, upsertField: "External_Id__c", bridge });
  if (bridge["sync_direction"] === "sf_to_pg") {
    await world.createRecords(
      "Contact",
      names.map((LastName) => ({ LastName, External_Id__c: `K-${LastName}` })),
    );
  } else {
    for (const [at, name] of names.entries())
      await world.sql(
        `INSERT INTO salesforce.contact (id, lastname, external_id__c) VALUES (${at + FIRST}, '${name}', 'K-${name}')`,
      );
  }
  await cycle();
  return world.sql("SELECT id, sfid, lastname, external_id__c FROM salesforce.contact ORDER BY id");
}

const FIRST = 4_294_967_297;

async function cycle() {
  await world.cycle(contact);
  await world.pass(5);
}

type Handler = Parameters<typeof call>[0];
const ask = async (handler: Handler, route: RouteName, key: unknown, scope: Scope = "operate") =>
  call(handler, route, {
    token: await tokenOf(scope),
    path: { workspace_id: world.workspaceId, table: "contact", key: String(key) },
  });

interface Story {
  readonly record_id: number | null;
  readonly sfid: string;
  readonly restore: Readonly<Record<string, unknown>> | null;
}
const story = async (key: unknown) => dataOf<Story>(await ask(readStory, "read-row-story", key));
const restore = (key: unknown, scope?: Scope) => ask(restoreRow, "restore-row", key, scope);
const rows = () => world.sql("SELECT id, sfid, lastname, external_id__c FROM salesforce.contact ORDER BY id");
const records = async () =>
  (await world.soql("SELECT LastName FROM Contact ORDER BY LastName")).map((one) => one["LastName"]);

test("a record that a colleague deleted is found by id, key and upsert value, says who and until when, and comes back", async () => {
  const [ada] = await synced(["Ada", "Grace"]);
  await world.colleague("DELETE", `/sobjects/Contact/${ada?.["sfid"]}`);
  await cycle();

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
  expect(waiting.restore).toMatchObject({ can: false, why: expect.stringContaining("asked for already") });
  expect((await rows()).map(({ sfid, lastname }) => [sfid, lastname])).toContainEqual([ada?.["sfid"], "Ada"]);
  expect(await records()).toEqual(["Ada", "Grace"]);
  expect((await story("K-Ada")).restore).toBeNull();
  expect(await world.sql("SELECT FROM salesforce._bridge_inbound_errors")).toEqual([]);
  const { entries } = await auditPage(
    { workspaceId: world.workspaceId, actor: null, action: "rows.restored" },
    { limit: 9, offset: 0 },
  );
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

test.each(["bidirectional", "pg_to_sf"] as const)(
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
    expect(await world.sql("SELECT FROM salesforce._bridge_inbound_errors")).toEqual([]);
    expect(await world.sql("SELECT count(*)::int AS changes FROM salesforce._trigger_log")).toEqual([{ changes: 3 }]);
  },
);

longTest("a row whose delete is held stays, and its record comes out of the recycle bin", async () => {
  const before = await synced(["Ada"], { delete_limit: "0" });
  await world.colleague("DELETE", `/sobjects/Contact/${before[0]?.["sfid"]}`);
  await cycle();
  const held = await world.sql("SELECT sfid FROM salesforce._bridge_held_deletes");

  const asked = await restore(FIRST);
  await cycle();

  expect(held).toHaveLength(1);
  expect(dataOf(asked)).toMatchObject({ restored: "by_next_cycle" });
  expect(await rows()).toEqual(before);
  expect(await records()).toEqual(["Ada"]);
  expect(await world.sql("SELECT sfid FROM salesforce._bridge_held_deletes")).toEqual([]);
});

test("what cannot come back is refused with the reason, and nothing is changed", async () => {
  const [ada, grace, emmy] = await synced(["Ada", "Grace", "Emmy"], { filter: "LastName != 'Out'" });
  await world.colleague("DELETE", `/sobjects/Contact/${ada?.["sfid"]}`);
  await cycle();
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
  expect(await refused(ada?.["sfid"])).toMatchObject({
    code: "CONFLICT",
    message: expect.stringContaining("recycle bin"),
  });
  expect(await refused(emmy?.["sfid"])).toMatchObject({
    message: expect.stringContaining("left the mapping's filter"),
  });
  expect(await refused(grace?.["id"])).toMatchObject({
    code: "CONFLICT",
    message: expect.stringContaining("are there"),
  });
  expect(await refused("K-Nobody")).toMatchObject({ code: "NOT_FOUND" });
  expect((await restore(ada?.["sfid"], "read")).status).toBe(403);
  expect(await everything()).toEqual(before);
});

longTest("a mapping that only reads changes nothing in Salesforce: it says where the record is undeleted", async () => {
  const [ada] = await synced(["Ada"], { sync_direction: "sf_to_pg" });
  await world.colleague("DELETE", `/sobjects/Contact/${ada?.["sfid"]}`);
  await cycle();

  const { restore: shown } = await story("K-Ada");
  const refused = await restore("K-Ada");

  expect(shown).toMatchObject({ can: false, why: expect.stringContaining("undelete the record in Salesforce") });
  expect(refused.json?.error).toMatchObject({ code: "CONFLICT", message: expect.stringContaining("only reads") });
  expect(await world.sql("SELECT FROM salesforce._bridge_inbound_errors")).toEqual([]);
});

test("what Salesforce refuses to undelete is kept as the reason, and can be asked for again", async () => {
  const [ada] = await synced(["Ada"]);
  await world.colleague("DELETE", `/sobjects/Contact/${ada?.["sfid"]}`);
  await cycle();
  await restore(FIRST);
  await world.control("DELETE", "/recycle-bin");
  await cycle();

  const [kept] = await world.sql("SELECT error, retry_at FROM salesforce._bridge_inbound_errors");
  expect(kept).toMatchObject({ error: expect.stringMatching(/^it was not restored: /), retry_at: null });
  expect(await rows()).toEqual([]);
});

test.each([
  ["lockedRow", { kind: "lockedRow", object: "Contact", times: 2 }],
  ["an error that passes", { kind: "validation", object: "Contact", code: "UNKNOWN_EXCEPTION", times: 2 }],
])("what Salesforce refuses in passing (%s) stays asked for, and comes back once it lets go", async (_, fault) => {
  const [ada, grace] = await synced(["Ada", "Grace"]);
  for (const one of [ada, grace]) await world.colleague("DELETE", `/sobjects/Contact/${one?.["sfid"]}`);
  await cycle();
  for (const one of [ada, grace]) await restore(one?.["id"]);
  await world.fault(fault);

  await cycle();
  const meanwhile = [await records(), await world.sql("SELECT retry_at FROM salesforce._bridge_inbound_errors")];
  await cycle();

  expect(meanwhile).toEqual([[], [{ retry_at: expect.any(Date) }, { retry_at: expect.any(Date) }]]);
  expect(await records()).toEqual(["Ada", "Grace"]);
  expect((await rows()).map(({ sfid }) => sfid)).toEqual([ada?.["sfid"], grace?.["sfid"]]);
  expect(await world.sql("SELECT FROM salesforce._bridge_inbound_errors")).toEqual([]);
});
