import { expect, test } from "vitest";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { type ApiClient, apiClient } from "../support/clients/api-client.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { firstInGate, longTest } from "../support/run/whole-grid.ts";
import type { BridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { carryOut } from "../support/worlds/carry-out.ts";
import type { SyncWorld } from "../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../support/worlds/worlds.ts";

let cloud: BridgeCloud;
let world: SyncWorld;
let api: ApiClient;
aWorldForEachTest(async (made) => {
  ({ cloud, world } = made);
  api = await apiClient(world.workspaceId);
});

const PEOPLE = 120;
/** Of the records, the one whose title the column refuses. */
const REFUSED = 57;

interface Found {
  readonly state: string;
  readonly differing: number;
  readonly records_changed: number;
  readonly records_refused: number;
  readonly digest: string;
  readonly samples: readonly {
    readonly sfid: string;
    readonly record_id: number;
    readonly differences: readonly object[];
  }[];
}

/** A table of the application's whose column `title` has this type, and records of the same keys. */
async function people(
  type: string,
  good: string,
  bad: string,
  bridge: Readonly<Record<string, unknown>>,
): Promise<Mapping> {
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
  return mapped(world, { object: "Contact", fields, upsertField: "External_Id__c", bridge });
}

const TYPES: readonly (readonly [type: string, good: string, bad: string, reason: RegExp])[] = [
  ["int", "5", "call back", /invalid input syntax for type integer/],
  ["public.short", "abc", "abcdef", /violates check constraint/],
  ["public.mood", "calm", "angry", /invalid input value for enum/],
  ["date", "2026-01-02", "soon", /invalid input syntax for type date/],
  ["boolean", "true", "perhaps", /invalid input syntax for type boolean/],
  ["text[]", "{a}", "a", /malformed array literal/],
  ["uuid", "6f9619ff-8b86-d011-b42d-00c04fc964ff", "none", /invalid input syntax for type uuid/],
];

test.each(firstInGate(2, TYPES))(
  "a value that a column of type %s cannot hold stops no dry run, which names it",
  async (type, good, bad, reason) => {
    const contact = await people(type, good, bad, { active: false, conflict_policy: "salesforce_wins" });
    const at = { path: { mapping_id: contact.id } };
    dataOf(await api.ask("start-dry-run", at));
    await carryOut(cloud, world.services);

    const found = dataOf<Found>(await api.ask("read-dry-run", at));

    expect(found).toMatchObject({ state: "done", matched: PEOPLE, differing: 2, records_refused: 1, rows_changed: 1 });
    const [record] = await world.soql(`SELECT Id FROM Contact WHERE External_Id__c = 'K-${REFUSED}'`);
    expect(found.samples).toContainEqual({
      sfid: record?.["Id"],
      record_id: REFUSED + 1,
      differences: [
        {
          field: "Title",
          postgres: null,
          salesforce: bad,
          winner: "salesforce",
          refused: expect.stringMatching(reason),
        },
      ],
    });
  },
);

longTest("two refused values in two columns of one record, and one in another, are named each", async () => {
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
  const at = { path: { mapping_id: contact.id } };
  dataOf(await api.ask("start-dry-run", at));
  await carryOut(cloud, world.services);

  const { samples, ...found } = dataOf<Found>(await api.ask("read-dry-run", at));

  expect(found).toMatchObject({ state: "done", matched: 3, differing: 2, records_refused: 2, rows_changed: 0 });
  expect(samples.map(({ record_id, differences }) => [record_id, differences.length])).toEqual([
    [1, 2],
    [2, 1],
  ]);
});

test.each(firstInGate(1, TYPES.slice(0, 4)))(
  "and no first load, where PostgreSQL wins: %s",
  async (type, good, bad, reason) => {
    const contact = await people(type, good, bad, { conflict_policy: "postgres_wins" });

    const rows = await world.sql("SELECT count(sfid) AS met FROM salesforce.contact");

    expect(rows).toEqual([{ met: String(PEOPLE - 1) }]);
    const errors = dataOf<object[]>(await api.ask("list-inbound-errors", { query: { mapping_id: contact.id } }));
    expect(errors).toMatchObject([{ error: expect.stringMatching(reason) }]);
  },
);

longTest.each(firstInGate(1, ["varchar(3)", "char(3)"]))(
  "a text that is too long for a column of type %s differs from what is left of it",
  async (type) => {
    const contact = await people(type, "abc", "abcdef", { active: false });
    const at = { path: { mapping_id: contact.id } };
    dataOf(await api.ask("start-dry-run", at));
    await carryOut(cloud, world.services);
    await world.sql("UPDATE salesforce.contact SET title = 'abc'");

    expect(dataOf<Found>(await api.ask("read-dry-run", at))).toMatchObject({
      state: "done",
      differing: 2,
      fields: expect.arrayContaining([{ field: "Title", rows: 1 }]),
    });
  },
);
