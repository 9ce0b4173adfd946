import { expect, test } from "vitest";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { firstInGate, isWholeGrid, longTest } from "../../support/run/whole-grid.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";
import { bothSides, idOf, writeUncaptured } from "../world.ts";

let world: SyncWorld;
let contact: Mapping;
aWorldForEachTest((made) => {
  world = made.world;
});

const FIELDS = [
  "AccountId",
  "Account.External_Id__c",
  "Birthdate",
  "Description",
  "Email",
  "External_Id__c",
  "LastName",
];

/** Records that were read long ago, so that the sweep is sure of their stamps. */
async function settled(conflict_policy: string, names: readonly string[]): Promise<void> {
  await world.createRecords(
    "Contact",
    names.map((LastName) => ({ LastName, Description: "theirs", Email: `${LastName.toLowerCase()}@old.example` })),
  );
  contact = await mapped(world, { object: "Contact", fields: FIELDS, bridge: { conflict_policy } });
  await world.pass(3600);
  await world.cycle(contact, "pull");
}

const unseen = (statement: string) => writeUncaptured(world, statement);
const patch = async (values: object, name = "Curie") =>
  world.rest("PATCH", `/sobjects/Contact/${await idOf(world, name)}`, values);
const sweep = () => world.work(contact, "sweep");
const cycles = async (count = 3) => {
  for (let i = 0; i < count; i++) await world.cycle(contact);
};
/** The emails of the rows and of the records. */
const emails = async () => {
  const { rows, records } = await bothSides(world);
  return [rows.map(({ Email }) => Email), records.map(({ Email }) => Email)];
};
const same = (...both: string[]) => [both, both];
const log = () =>
  world.sql('SELECT action, state, captured, "values", sf_message FROM salesforce._trigger_log ORDER BY id');
const conflicts = () =>
  world.sql("SELECT field, postgres, salesforce, winner FROM salesforce._bridge_conflicts ORDER BY id");

test.each(firstInGate(1, ["postgres_wins", "latest_wins"]))(
  "with %s a write under session_replication_role = replica is not reverted by the sweep but sent, once",
  async (policy) => {
    await settled(policy, ["Curie", "Hopper"]);
    await unseen("UPDATE salesforce.contact SET email = 'marie@new.example' WHERE lastname = 'Curie'");

    await sweep();
    await sweep();

    expect(await log()).toMatchObject([
      { action: "UPDATE", state: "NEW", captured: "late", values: { email: "marie@new.example" } },
    ]);
    expect(await conflicts()).toEqual([
      { field: "email", postgres: "marie@new.example", salesforce: "curie@old.example", winner: "postgres" },
    ]);
    await cycles();
    await world.pass(3600);
    await sweep();
    expect(await log()).toMatchObject([{ state: "SUCCESS", captured: "late" }]);
    expect(await emails()).toEqual(same("marie@new.example", "hopper@old.example"));
  },
);

test("where Salesforce wins, an unseen write is overwritten, and the log and the conflicts say what was lost", async () => {
  await settled("salesforce_wins", ["Curie", "Hopper"]);
  await unseen("UPDATE salesforce.contact SET email = 'marie@new.example' WHERE lastname = 'Curie'");

  await sweep();
  await sweep();
  await world.cycle(contact);

  expect(await emails()).toEqual(same("curie@old.example", "hopper@old.example"));
  expect(await log()).toMatchObject([
    {
      state: "FAILED",
      captured: "late",
      values: { email: "marie@new.example" },
      sf_message: expect.stringMatching(/^CONFLICT: no trigger saw this write .*\[email\]/),
    },
  ]);
  expect(await conflicts()).toMatchObject([{ field: "email", postgres: "marie@new.example", winner: "salesforce" }]);
});

test("a pull that reads its last minute again does not revert an unseen write either", async () => {
  await settled("postgres_wins", ["Curie"]);
  // Of what our own user saved last a pull reads ids and stamps again.
  await world.colleague("PATCH", `/sobjects/Contact/${await idOf(world, "Curie")}`, { Description: "x" });
  await world.pass(5);
  await world.cycle(contact, "pull");
  await world.pass(5);
  await unseen("UPDATE salesforce.contact SET email = 'marie@new.example'");

  for (let i = 0; i < 3; i++) await world.cycle(contact, "pull");

  expect(await emails()).toEqual(same("marie@new.example"));
  expect(await log()).toMatchObject([{ captured: "late", state: "SUCCESS" }]);
});

test("beside an unseen write a record that has changed as well is an ordinary pull, and a captured write of the row is sent, too", async () => {
  await settled("postgres_wins", ["Curie", "Hopper"]);
  await unseen("UPDATE salesforce.contact SET email = 'marie@new.example' WHERE lastname = 'Curie'");
  await patch({ Description: "x" });
  await world.cycle(contact);

  expect(await emails()).toEqual(same("curie@old.example", "hopper@old.example"));
  expect(await log()).toEqual([]);

  await unseen("UPDATE salesforce.contact SET email = 'grace@new.example' WHERE lastname = 'Hopper'");
  await world.sql("UPDATE salesforce.contact SET description = 'captured' WHERE lastname = 'Hopper'");
  await sweep();
  await cycles();

  expect(await world.soql("SELECT Email, Description FROM Contact ORDER BY LastName")).toEqual([
    { Email: "curie@old.example", Description: "x" },
    { Email: "grace@new.example", Description: "captured" },
  ]);
  expect((await log()).map(({ captured, state }) => [captured, state])).toEqual([
    [null, "SUCCESS"],
    ["late", "SUCCESS"],
  ]);
});

longTest("more unseen writes than a page holds are all captured, each once", async () => {
  await settled(
    "postgres_wins",
    Array.from({ length: 2_300 }, (_, at) => `N${at}`),
  );
  await unseen("UPDATE salesforce.contact SET email = 'new.' || email");

  await sweep();
  await sweep();

  const changes = "SELECT record_id FROM salesforce._trigger_log WHERE captured = 'late'";
  expect(
    await world.sql(`SELECT count(*)::int AS n, count(DISTINCT record_id)::int AS rows FROM (${changes}) c`),
  ).toEqual([{ n: 2_300, rows: 2_300 }]);
  expect(await world.sql("SELECT FROM salesforce.contact WHERE email NOT LIKE 'new.%'")).toEqual([]);
});

/** What looks like an unseen write beneath a record of Curie, and is none. */
const NONE: readonly (readonly [string, () => Promise<unknown>, email: string])[] = [
  [
    "a value that was emptied, and a column that was dropped and made again",
    async () => {
      await unseen("UPDATE salesforce.contact SET email = NULL");
      await world.sql("ALTER TABLE salesforce.contact DROP COLUMN email, ADD COLUMN email varchar(80)");
      await cycles(2);
      await sweep();
    },
    "curie@old.example",
  ],
  [
    "the second of two saves of one second, which the pull between them did not see",
    async () => {
      await patch({ Email: "first@new.example" });
      await world.pass(10);
      await patch({ Email: "second@new.example" });
      await world.beat([contact]);
      await patch({ Email: "third@new.example" });
      expect((await emails())[0]).toEqual(["second@new.example"]);
    },
    "third@new.example",
  ],
  [
    "what Salesforce keeps as the same value: spaces, line ends",
    async () => {
      await patch({ Description: "two\nlines" });
      await world.pass(3600);
      await world.cycle(contact, "pull");
      await unseen("UPDATE salesforce.contact SET description = E'two\\r\\nlines  '");
      await sweep();
    },
    "curie@old.example",
  ],
];

test.each(firstInGate(2, NONE))("%s is sent nowhere and is no conflict", async (_, happens, email) => {
  await settled("postgres_wins", ["Curie"]);
  await happens();

  await cycles();

  expect(await emails()).toEqual(same(email));
  expect([await log(), await conflicts()]).toEqual([[], []]);
});

/** What applications do to the rows that we write; each makes of our value another one. One of them looks like a write, once. */
const TRIGGERS = [
  ["makes every email lower case", "NEW.email := lower(NEW.email);", 0],
  ["writes the time of each update", "NEW.description := clock_timestamp()::text;", 0],
  [
    "writes the time of each update that does not set it",
    "IF NEW.description IS NOT DISTINCT FROM OLD.description THEN NEW.description := clock_timestamp()::text; END IF;",
    1,
  ],
] as const;

const CYCLES = isWholeGrid ? 30 : 3;

test.each(firstInGate(1, TRIGGERS))(
  "a trigger of the application that %s starts no ping-pong",
  async (_, body, most) => {
    await settled("postgres_wins", ["Curie"]);
    await world.sql(`CREATE FUNCTION salesforce.touch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} RETURN NEW; END $$;
    CREATE TRIGGER touch BEFORE UPDATE OF email, description ON salesforce.contact FOR EACH ROW EXECUTE FUNCTION salesforce.touch()`);
    await patch({ Email: "Marie@New.Example" });
    const goOn = async () => {
      for (let i = 0; i < CYCLES; i++) {
        await world.pass(9);
        await world.cycle(contact);
      }
      await sweep();
      return world.soql("SELECT SystemModstamp FROM Contact");
    };

    const after = await goOn();

    expect(await goOn(), "nothing is sent any more").toEqual(after);
    expect((await log()).length).toBeLessThanOrEqual(most);
  },
);

longTest(
  "what we or Salesforce have changed in a value is no unseen write: spaces, dates, parents, refusals",
  async () => {
    await world.rest("POST", "/sobjects/Account", { Name: "Acme", External_Id__c: "A-1" });
    await settled("postgres_wins", ["Curie", "Hopper", "Noether"]);
    await world.sql(
      "UPDATE salesforce.contact SET description = '  spaced  ', birthdate = '1867-11-07' WHERE lastname = 'Curie'",
    );
    await world.sql("UPDATE salesforce.contact SET account__external_id__c = 'A-1' WHERE lastname = 'Hopper'");
    await world.sql("UPDATE salesforce.contact SET email = 'no address' WHERE lastname = 'Noether'");
    await cycles();
    const [account] = await world.soql("SELECT Id FROM Account");
    await world.rest("PATCH", `/sobjects/Account/${account?.["Id"]}`, { External_Id__c: "A-2" });
    const before = await log();
    await world.pass(3600);
    await world.cycle(contact, "pull");

    await sweep();
    await cycles();
    await sweep();

    expect((await log()).filter(({ captured }) => captured !== null)).toEqual([]);
    expect((await log()).length).toBe(before.length);
    expect(await conflicts()).toEqual([]);
  },
);

test("a change of ours that is under way while Salesforce changes the same field is not mistaken for an unseen write", async () => {
  await settled("postgres_wins", ["Curie"]);
  await world.sql("UPDATE salesforce.contact SET email = 'marie@new.example'");
  await world.cycle(contact);
  await patch({ Email: "theirs@new.example" });

  for (let i = 0; i < 3; i++) {
    await world.pass(30);
    await world.cycle(contact);
  }
  await sweep();

  expect(await emails()).toEqual(same("theirs@new.example"));
  expect((await log()).map(({ captured }) => captured)).toEqual([null]);
});
