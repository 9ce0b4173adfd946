import { afterEach, expect, test } from "vitest";
import { herokuConnectSchemas } from "../../lib/heroku-connect/inspect-heroku-connect.ts";
import { type Customer, sfidOf } from "../adapters/postgres/customer.ts";
import { AS_HEROKU_CONNECT, AS_THE_APPLICATION } from "../support/worlds/heroku-connect.ts";
import { adoptSchema, theirDatabase } from "./their-database.ts";

let customer: Customer;
afterEach(() => customer.close());

interface Case {
  /** What the application does with the row; $id is its key. */
  readonly writes: readonly string[];
  readonly hasRecord?: true;
  /** States of its changes, where Heroku Connect has worked at them since. */
  readonly states?: readonly string[];
  /** Changes that are in the archive, by their place. */
  readonly archived?: readonly number[];
  /** What becomes Bridge's, and what the old log then says. */
  readonly ours: readonly string[];
  readonly theirs: readonly string[];
}

const INSERT = "INSERT INTO salesforce.contact (id, lastname) VALUES ($id, 'Gone')";
const UPDATE = "UPDATE salesforce.contact SET email = 'gone@example.com' WHERE id = $id";
const DELETE = "DELETE FROM salesforce.contact WHERE id = $id";

const UNMAPPED = "UPDATE salesforce.contact SET unmapped__c = 'x' WHERE id = $id";

const CASES: Readonly<Record<string, Case>> = {
  "inserted, deleted": { writes: [INSERT, DELETE], ours: [], theirs: ["IGNORED", "IGNORE"] },
  "inserted, two columns updated, one of them unmapped, deleted": {
    ...{ writes: [INSERT, UPDATE, UNMAPPED, DELETE], ours: [] },
    theirs: ["IGNORED", "IGNORED", "IGNORED", "IGNORE"],
  },
  "inserted, deleted, and the delete is in the archive": {
    ...{ writes: [INSERT, DELETE], states: ["NEW", "IGNORED"], archived: [1] },
    ...{ ours: [], theirs: ["IGNORED", "IGNORED"] },
  },
  "inserted, deleted, inserted again with its key": {
    ...{ writes: [INSERT, DELETE, INSERT], ours: ["INSERT NEW"], theirs: ["IGNORED", "IGNORE", "REQUEUED"] },
  },
  "refused, then deleted": {
    ...{ writes: [INSERT, DELETE], states: ["FAILED", "IGNORE"], ours: [], theirs: ["FAILED", "IGNORE"] },
  },
  "being inserted, with an update that was merged, deleted": {
    ...{ writes: [INSERT, UPDATE, DELETE], states: ["PENDING", "MERGED", "IGNORE"] },
    ...{ ours: ["INSERT PENDING", "UPDATE PENDING", "DELETE NEW"], theirs: ["REQUEUED", "REQUEUED", "REQUEUED"] },
  },
  "being inserted, with an update that was merged": {
    ...{ writes: [INSERT, UPDATE], states: ["PENDING", "MERGED"] },
    ...{ ours: ["INSERT PENDING", "UPDATE PENDING"], theirs: ["REQUEUED", "REQUEUED"] },
  },
  "inserted and merged long ago, updated": {
    ...{ writes: [INSERT, UPDATE, UPDATE.replace("gone", "x")], states: ["SUCCESS", "MERGED", "NEW"] },
    ...{ ours: ["UPDATE NEW"], theirs: ["SUCCESS", "MERGED", "REQUEUED"] },
  },
  "a record's row updated, deleted": {
    ...{ hasRecord: true, writes: [UPDATE, DELETE], ours: ["UPDATE NEW", "DELETE NEW"] },
    theirs: ["REQUEUED", "REQUEUED"],
  },
};

test("a row that came and went while Heroku Connect was paused is not sent, and its siblings are as they should", async () => {
  customer = await theirDatabase();
  const cases = Object.values(CASES).map((one, at) => ({ ...one, id: 101 + at }));
  for (const one of cases) await write(one);
  const { tables } = await herokuConnectSchemas.look({ url: customer.url, schema: "salesforce" });

  await adoptSchema(customer.url);
  await customer.provision();

  const found = async (log: string, what: string) => {
    const rows = await customer.sql(
      `SELECT record_id::int AS id, ${what} AS what FROM ${log} ORDER BY record_id, l.id`,
    );
    return cases.map(({ id }) => rows.filter((row) => row["id"] === id).map((row) => row["what"]));
  };
  const both = "(TABLE salesforce._hc_trigger_log UNION ALL TABLE salesforce._hc_trigger_log_archive) AS l";
  expect(named(await found("salesforce._trigger_log l", "concat_ws(' ', action, state)"))).toEqual(
    named(cases.map(({ ours }) => ours)),
  );
  expect(named(await found(both, "state"))).toEqual(named(cases.map(({ theirs }) => theirs)));
  expect(tables[0]?.changes).toEqual({ new: 5, pending: 4, failed: 0 });
});

const named = (values: readonly unknown[]) =>
  Object.fromEntries(Object.keys(CASES).map((name, at) => [name, values[at]]));

async function write({ id, writes, hasRecord, states, archived = [] }: Case & { readonly id: number }): Promise<void> {
  if (hasRecord) {
    await customer.sql(AS_HEROKU_CONNECT);
    await customer.sql("INSERT INTO salesforce.contact (id, sfid, lastname) VALUES ($1, $2, 'There')", [
      id,
      sfidOf(id),
    ]);
    await customer.sql(AS_THE_APPLICATION);
  }
  for (const text of writes) await customer.sql(text.replaceAll("$id", String(id)));
  const changes = await customer.sql("SELECT id FROM salesforce._trigger_log WHERE record_id = $1 ORDER BY id", [id]);
  for (const [at, change] of changes.entries()) {
    if (states)
      await customer.sql("UPDATE salesforce._trigger_log SET state = $2 WHERE id = $1", [change["id"], states[at]]);
    if (!archived.includes(at)) continue;
    await customer.sql(
      `WITH moved AS (DELETE FROM salesforce._trigger_log WHERE id = ${change["id"]} RETURNING *)
       INSERT INTO salesforce._trigger_log_archive SELECT * FROM moved`,
    );
  }
}
