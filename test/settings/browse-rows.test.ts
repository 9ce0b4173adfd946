import type { ListRowsData } from "bridge/api";
import { expect, test } from "vitest";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import type { Scope } from "../../lib/model/workspace/token.ts";
import { ask as askApi } from "../support/clients/ask.ts";
import { dataOf } from "../support/clients/data-of.ts";
import type { SyncWorld } from "../support/worlds/sync-world.ts";
import { tokenFor } from "../support/worlds/workspace.ts";
import { aWorldForEachTest, mapped } from "../support/worlds/worlds.ts";

let world: SyncWorld;
aWorldForEachTest((made) => {
  ({ world } = made);
});

const ask = async ({ id }: Mapping, query: Record<string, string> = {}, scope: Scope = "operate") =>
  askApi("list-rows", {
    token: await tokenFor(world.workspaceId, scope),
    path: { workspace_id: world.workspaceId, mapping_id: id },
    query,
  });
const page = async (mapping: Mapping, query: Record<string, string> = {}) =>
  dataOf<ListRowsData>(await ask(mapping, query));

/** All keys, page by page, of two rows each. */
async function keys(mapping: Mapping, query: Record<string, string> = {}): Promise<number[]> {
  const found: number[] = [];
  for (let after: string | null = ""; after !== null; ) {
    const { rows, next }: ListRowsData = await page(mapping, { ...query, limit: "2", ...(after && { after }) });
    expect(rows.length).toBeLessThanOrEqual(2);
    found.push(...rows.map(({ record_id }) => record_id));
    after = next;
  }
  return found;
}

const BIG = 4_294_967_297;

/** One row of each state: 1 synced, 2 failed, 3 waiting, 4 conflict, 5 without a record; the last key is large. */
async function contactOfAllStates(): Promise<Mapping> {
  const contact = await mapped(world, { object: "Contact", fields: ["LastName", "Email", "Phone"] });
  await world.sql("ALTER TABLE salesforce.contact ADD COLUMN secret text DEFAULT 'unmapped'");
  await world.sql(`INSERT INTO salesforce.contact (id, lastname, email, phone) VALUES
    (1, 'Ada', 'ada@example.com', '1'), (2, 'Grace', 'nowhere', '1'), (3, 'Emmy_x', NULL, '1'), (4, 'Hedy', NULL, '1')`);
  await world.cycle(contact);
  await world.pass(60);
  await world.cycle(contact);
  await world.sql("ALTER TABLE salesforce.contact DISABLE TRIGGER USER");
  await world.sql(`INSERT INTO salesforce.contact (id, lastname) VALUES (${BIG}, 'Joan')`);
  await world.sql("ALTER TABLE salesforce.contact ENABLE TRIGGER USER");
  await world.sql(`INSERT INTO salesforce._bridge_conflicts (mapping_id, sfid, record_id, field, winner, at)
    SELECT '${contact.id}', sfid, 4, 'phone', 'salesforce', now() FROM salesforce.contact WHERE id = 4`);
  await world.sql("UPDATE salesforce.contact SET phone = '2' WHERE id = 3");
  return contact;
}

test("each row has its state, filtered and in its order page by page, and nothing is shown that is not mapped", async () => {
  const contact = await contactOfAllStates();
  const account = await mapped(world, { object: "Account", fields: ["Name"] });
  await world.sql("INSERT INTO salesforce.account (id, name) VALUES (1, 'Acme')");

  const { columns, rows, next } = await page(contact);

  expect(columns).toEqual([
    { field: "Email", column: "email", type: "character varying(80)" },
    { field: "LastName", column: "lastname", type: "character varying(80)" },
    { field: "Phone", column: "phone", type: "character varying(40)" },
  ]);
  expect(rows.map(({ record_id, state }) => [record_id, state])).toEqual([
    ...[1, 2, 3, 4].map((key, at) => [key, ["synced", "failed", "waiting", "conflict"][at]]),
    [BIG, "no_record"],
  ]);
  expect(next).toBeNull();
  expect(rows[0]?.values).toEqual({ lastname: "Ada", email: "ada@example.com", phone: "1" });
  expect(await keys(contact)).toEqual([1, 2, 3, 4, BIG]);
  expect(await keys(contact, { sort: "state" })).toEqual([2, 4, 3, BIG, 1]);
  const byState = ["synced", "failed", "waiting", "conflict", "no_record"].map((state) => keys(contact, { state }));
  expect(await Promise.all(byState)).toEqual([[1], [2], [3], [4], [BIG]]);
  expect((await page(account)).rows.map(({ record_id, state }) => [record_id, state])).toEqual([[1, "waiting"]]);
});

test("a search finds what a mapped column contains, whatever its case and with SQL's own signs, and no unmapped one", async () => {
  const contact = await contactOfAllStates();

  const found = [
    { find: "GRACE" },
    { find: "example.com", column: "email" },
    { find: "example.com", column: "lastname" },
    { find: "y_x" },
    { find: "%" },
    { find: "'; DROP TABLE salesforce.contact; --" },
    { find: "unmapped" },
    { find: "a", state: "failed" },
  ].map((query) => keys(contact, query));
  const refused = [
    { column: "secret", find: "x" },
    { column: 'email" = NULL --', find: "x" },
    { after: "7" },
    { after: "synced:x" },
    { state: "lost" },
  ];

  expect(await Promise.all(found)).toEqual([[2], [1], [], [3], [], [], [], [2]]);
  for (const query of refused) {
    expect([query, (await ask(contact, query)).json?.error?.code]).toEqual([query, "VALIDATION_ERROR"]);
  }
});

test("sides shows what a record holds otherwise; a token that only reads sees keys and states, no values, and may neither search nor compare", async () => {
  const contact = await contactOfAllStates();
  const [row] = await world.sql("SELECT sfid FROM salesforce.contact WHERE id = 1");
  await world.rest("PATCH", `/sobjects/Contact/${row?.["sfid"]}`, { Phone: "77" });

  const { rows } = await page(contact, { sides: "true" });
  const readOnly = dataOf<ListRowsData>(await ask(contact, {}, "read"));

  expect(rows.map(({ salesforce }) => salesforce)).toEqual([{ phone: "77" }, null, { phone: "1" }, {}, null]);
  expect(readOnly.rows.map(({ state, values, error }) => [state, values, error])).toContainEqual([
    ...["failed", null, null],
  ]);
  expect((await ask(contact, { find: "a" }, "read")).status).toBe(403);
  expect((await ask(contact, { sides: "true" }, "read")).status).toBe(403);
});
