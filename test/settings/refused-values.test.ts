import type { ListInboundErrorsData, ReadDryRunData } from "bridge/api";
import { expect, test } from "vitest";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { askingIn } from "../support/clients/ask.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { firstInGate } from "../support/run/whole-grid.ts";
import type { BridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { carryOut } from "../support/worlds/carry-out.ts";
import type { SyncWorld } from "../support/worlds/sync-world.ts";
import { tokenFor } from "../support/worlds/workspace.ts";
import { aWorldForEachTest, mapped } from "../support/worlds/worlds.ts";

let cloud: BridgeCloud;
let world: SyncWorld;
let token: string;
aWorldForEachTest(async (made) => {
  ({ cloud, world } = made);
  token = await tokenFor(world.workspaceId);
});

const ask = askingIn(() => ({ id: world.workspaceId, token }));

/** What a dry run of the mapping finds. */
async function found({ id }: Mapping): Promise<ReadDryRunData> {
  const at = { path: { mapping_id: id } };
  dataOf(await ask("start-dry-run", at));
  await carryOut(cloud, world.services);
  return dataOf<ReadDryRunData>(await ask("read-dry-run", at));
}

const PEOPLE = 120;
/** Of the records, the one whose title the column refuses. */
const REFUSED = 57;

/** A table of the application's whose column `title` has this type, and records of the same keys. */
async function people(type: string, good: string, bad: string, bridge: object): Promise<Mapping> {
  await world.createRecords(
    "Contact",
    Array.from({ length: PEOPLE }, (_, at) => ({
      LastName: `N${at}`,
      External_Id__c: `K-${at}`,
      Title: at === REFUSED ? bad : good,
    })),
  );
  await world.sql(`CREATE SCHEMA IF NOT EXISTS salesforce; CREATE TYPE public.mood AS ENUM ('calm', 'glad');
    CREATE DOMAIN public.short AS text CHECK (length(VALUE) < 5);
    CREATE TABLE salesforce.contact (id bigserial PRIMARY KEY, lastname varchar(80), title ${type}, external_id__c varchar(64) UNIQUE);
    INSERT INTO salesforce.contact (lastname, title, external_id__c)
    SELECT CASE WHEN n = 3 THEN 'Ours' ELSE 'N' || n END, '${good}', 'K-' || n FROM generate_series(0, ${PEOPLE - 1}) n`);
  const fields = ["LastName", "Title", "External_Id__c"];
  return mapped(world, { object: "Contact", fields, upsertField: "External_Id__c", bridge: { ...bridge } });
}

const TYPES: readonly (readonly [type: string, good: string, bad: string, reason: RegExp])[] = [
  ["public.short", "abc", "abcdef", /violates check constraint/],
  ["public.mood", "calm", "angry", /invalid input value for enum/],
  ["date", "2026-01-02", "soon", /invalid input syntax for type date/],
  ["text[]", "{a}", "a", /malformed array literal/],
];

test.each(firstInGate(1, TYPES))(
  "a value that a column of type %s cannot hold stops no dry run, which names it",
  async (type, good, bad, reason) => {
    const contact = await people(type, good, bad, { active: false, conflict_policy: "salesforce_wins" });

    const { samples, ...is } = await found(contact);

    expect(is).toMatchObject({ state: "done", matched: PEOPLE, differing: 2, records_refused: 1, rows_changed: 1 });
    const title = { field: "Title", postgres: null, winner: "salesforce" };
    const [record] = await world.soql(`SELECT Id FROM Contact WHERE External_Id__c = 'K-${REFUSED}'`);
    expect(samples).toContainEqual({
      sfid: record?.["Id"],
      record_id: REFUSED + 1,
      differences: [{ ...title, salesforce: bad, refused: expect.stringMatching(reason) }],
    });
  },
);

test("two refused values in two columns of one record, and one in another, are named each, and stop no dry run", async () => {
  await world.createRecords("Contact", [
    { LastName: "A", External_Id__c: "K-0", Title: "x", Department: "y" },
    { LastName: "B", External_Id__c: "K-1", Title: "7", Department: "z" },
    { LastName: "C", External_Id__c: "K-2", Title: "7", Department: "8" },
  ]);
  await world.sql(`CREATE SCHEMA IF NOT EXISTS salesforce;
    CREATE TABLE salesforce.contact (id bigserial PRIMARY KEY, lastname varchar(80), title int, department int, external_id__c varchar(64) UNIQUE);
    INSERT INTO salesforce.contact (lastname, external_id__c, title, department) VALUES ('A', 'K-0', 1, 1), ('B', 'K-1', 7, 1), ('C', 'K-2', 7, 8)`);
  const contact = await mapped(world, {
    object: "Contact",
    fields: ["LastName", "Title", "Department", "External_Id__c"],
    upsertField: "External_Id__c",
    bridge: { active: false },
  });

  const { samples, ...is } = await found(contact);

  expect(is).toMatchObject({ state: "done", matched: 3, differing: 2, records_refused: 2, rows_changed: 0 });
  expect(samples.map(({ record_id, differences }) => [record_id, differences.length])).toEqual([
    [1, 2],
    [2, 1],
  ]);
});

test("and no first load, where PostgreSQL wins", async () => {
  const contact = await people("public.short", "abc", "abcdef", { conflict_policy: "postgres_wins" });

  const rows = await world.sql("SELECT count(sfid) AS met FROM salesforce.contact");

  expect(rows).toEqual([{ met: String(PEOPLE - 1) }]);
  const answer = await ask("list-inbound-errors", { query: { mapping_id: contact.id } });
  const [error, ...others] = dataOf<readonly ListInboundErrorsData[]>(answer);
  expect([error?.error, others]).toEqual([expect.stringContaining("violates check constraint"), []]);
});

test("a text that is too long for its column differs from what is left of it", async () => {
  const contact = await people("varchar(3)", "abc", "abcdef", { active: false });

  const fields = expect.arrayContaining([{ field: "Title", rows: 1 }]);
  expect(await found(contact)).toMatchObject({ state: "done", differing: 2, fields });
});
