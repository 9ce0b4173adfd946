import { expect, test } from "vitest";
import { firstInGate, isWholeGrid } from "../../support/run/whole-grid.ts";
import { eachInAWorld, world } from "../world.ts";

eachInAWorld();

const FIELDS = ["Description", "Email", "LastName"];

/** Records that were read long ago, so that the sweep is sure of their stamps. */
async function follow(conflict_policy: string, ...people: readonly string[]): Promise<void> {
  await world.createRecords(
    "Contact",
    people.map((LastName) => ({ LastName, Description: "theirs", Email: `${LastName.toLowerCase()}@old.example` })),
  );
  await world.mapContact(FIELDS, { bridge: { conflict_policy } });
  await world.settle();
}

const writeEmail = (email: string, name = "Curie") =>
  world.writeUncaptured(`UPDATE salesforce.contact SET email = '${email}' WHERE lastname = '${name}'`);
/** The emails of rows and records, which are equal. */
const emails = async () => {
  const { rows, records } = await world.bothSides();
  expect(rows).toEqual(records);
  return rows.map(({ Email }) => Email);
};
const changes = () => world.changes('action, state, captured, "values", sf_message');

test.each(firstInGate(1, ["postgres_wins", "latest_wins"]))(
  "with %s a write under session_replication_role = replica is not reverted by the sweep but sent, once",
  async (policy) => {
    await follow(policy, "Curie", "Hopper");
    await writeEmail("marie@new.example");

    await world.sweep();
    await world.sweep();

    expect(await changes()).toMatchObject([
      { action: "UPDATE", state: "NEW", captured: "late", values: { email: "marie@new.example" } },
    ]);
    expect(await world.conflicts()).toEqual([
      { field: "email", postgres: "marie@new.example", salesforce: "curie@old.example", winner: "postgres" },
    ]);
    await world.cycles(3);
    await world.pass(3600);
    await world.sweep();
    expect(await changes()).toMatchObject([{ state: "SUCCESS", captured: "late" }]);
    expect(await emails()).toEqual(["marie@new.example", "hopper@old.example"]);
  },
);

test("where Salesforce wins, an unseen write is overwritten, and the log and the conflicts say what was lost", async () => {
  await follow("salesforce_wins", "Curie", "Hopper");
  await writeEmail("marie@new.example");

  await world.sweep();
  await world.sweep();
  await world.cycles();

  expect(await emails()).toEqual(["curie@old.example", "hopper@old.example"]);
  expect(await changes()).toMatchObject([
    {
      state: "FAILED",
      captured: "late",
      values: { email: "marie@new.example" },
      sf_message: expect.stringMatching(/^CONFLICT: no trigger saw this write .*\[email\]/),
    },
  ]);
  expect(await world.conflicts()).toMatchObject([
    { field: "email", postgres: "marie@new.example", winner: "salesforce" },
  ]);
});

test("a pull that reads its last minute again does not revert an unseen write either", async () => {
  await follow("postgres_wins", "Curie");
  // Of what our own user saved last a pull reads ids and stamps again.
  await world.patch("Curie", { Description: "x" }, "colleague");
  await world.pass(5);
  await world.cycle(world.contact, "pull");
  await world.pass(5);
  await writeEmail("marie@new.example");

  for (let i = 0; i < 3; i++) await world.cycle(world.contact, "pull");

  expect(await emails()).toEqual(["marie@new.example"]);
  expect(await changes()).toMatchObject([{ captured: "late", state: "SUCCESS" }]);
});

/** What looks like an unseen write beneath a record of Curie, and is none. */
const NONE: readonly (readonly [string, () => Promise<unknown>, email: string])[] = [
  [
    "a value that was emptied, and a column that was dropped and made again",
    async () => {
      await world.writeUncaptured("UPDATE salesforce.contact SET email = NULL");
      await world.sql("ALTER TABLE salesforce.contact DROP COLUMN email, ADD COLUMN email varchar(80)");
      await world.cycles(2);
      await world.sweep();
    },
    "curie@old.example",
  ],
  [
    "the second of two saves of one second, which the pull between them did not see",
    async () => {
      await world.patch("Curie", { Email: "first@new.example" });
      await world.pass(10);
      await world.patch("Curie", { Email: "second@new.example" });
      await world.beat([world.contact]);
      await world.patch("Curie", { Email: "third@new.example" });
      expect((await world.bothSides()).rows).toMatchObject([{ Email: "second@new.example" }]);
    },
    "third@new.example",
  ],
  [
    "what Salesforce keeps as the same value: spaces, line ends",
    async () => {
      await world.patch("Curie", { Description: "two\nlines" });
      await world.settle();
      await world.writeUncaptured("UPDATE salesforce.contact SET description = E'two\\r\\nlines  '");
      await world.sweep();
    },
    "curie@old.example",
  ],
];

test.each(firstInGate(1, NONE))("%s is sent nowhere and is no conflict", async (_, happens, email) => {
  await follow("postgres_wins", "Curie");
  await happens();

  await world.cycles(3);

  expect(await emails()).toEqual([email]);
  expect([await changes(), await world.conflicts()]).toEqual([[], []]);
});

/** What applications do to the rows that we write; each makes of our value another one. The last resembles a write, once. */
const TRIGGERS = [
  ["makes every email lower case", "NEW.email := lower(NEW.email);", 0],
  ["writes the time of each update", "NEW.description := clock_timestamp()::text;", 0],
  [
    "writes the time of each update that does not set it",
    "IF NEW.description IS NOT DISTINCT FROM OLD.description THEN NEW.description := clock_timestamp()::text; END IF;",
    1,
  ],
] as const;

test.each(firstInGate(1, TRIGGERS))(
  "a trigger of the application that %s starts no ping-pong",
  async (_, body, most) => {
    await follow("postgres_wins", "Curie");
    await world.sql(`CREATE FUNCTION salesforce.touch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} RETURN NEW; END $$;
    CREATE TRIGGER touch BEFORE UPDATE OF email, description ON salesforce.contact FOR EACH ROW EXECUTE FUNCTION salesforce.touch()`);
    await world.patch("Curie", { Email: "Marie@New.Example" });
    const goOn = async () => {
      for (let i = 0; i < (isWholeGrid ? 30 : 3); i++) {
        await world.pass(9);
        await world.cycles();
      }
      await world.sweep();
      return world.soql("SELECT SystemModstamp FROM Contact");
    };

    const after = await goOn();

    expect(await goOn(), "nothing is sent any more").toEqual(after);
    expect((await changes()).length).toBeLessThanOrEqual(most);
  },
);
