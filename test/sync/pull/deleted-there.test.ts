import { Client } from "pg";
import { beforeEach, describe, expect, test } from "vitest";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { firstInGate, longTest } from "../../support/run/whole-grid.ts";
import { eachInAWorld, world } from "../world.ts";

const TEN_MINUTES = 600_000;

eachInAWorld();

/** Rows with their records, under a policy. */
async function meet(policy: Mapping["conflictPolicy"], ...others: readonly string[]): Promise<void> {
  await world.mapContact(["Email", "LastName", "Title"], { bridge: { conflict_policy: policy } });
  await world.sql("INSERT INTO salesforce.contact (lastname) SELECT unnest($1::text[])", [["Curie", ...others]]);
  await world.cycles();
}

const rows = () => world.sql("SELECT lastname, email, title, _ab_lastop FROM salesforce.contact ORDER BY id");
const records = () => world.soql("SELECT LastName, Email, Title FROM Contact ORDER BY LastName");
const professor = "UPDATE salesforce.contact SET title = 'Professor' WHERE lastname = 'Curie'";

/** A change of the application, captured so long before or after now by the org's time. */
async function change(milliseconds: number): Promise<void> {
  await world.sql(professor);
  await world.sql("UPDATE salesforce._trigger_log SET created_at = $1 WHERE state = 'NEW'", [
    new Date(world.cloud.clock.now() + milliseconds).toISOString(),
  ]);
}

test("a record that was deleted for good while a transaction held its row takes the row with it later", async () => {
  await meet("salesforce_wins");
  await world.pass(300);
  await world.cycles();
  const user = new Client({ connectionString: world.databaseUrl });
  await user.connect();
  await user.query(`BEGIN; ${professor}`);
  await world.removeForGood("Curie");
  await world.pass(300);
  await world.cycles();
  await user.query("ROLLBACK");
  await user.end();
  expect(await rows()).toHaveLength(1);

  for (const seconds of [10, 300]) {
    await world.pass(seconds);
    await world.cycles();
  }

  expect(await rows()).toEqual([]);
  expect(await world.setAside()).toEqual([]);
});

describe("a record that was deleted in Salesforce beneath a change of its row", () => {
  beforeEach(() => meet("latest_wins"));

  test.each(["before any pull has met that", "after a pull has met that"])(
    "comes back with the change when the later one wins and that is the change, sent %s",
    async (when) => {
      await world.remove("Curie");
      await world.pass(5);
      await change(1000);
      // A save that is refused for a time is sent after the next pull.
      if (when.startsWith("after")) await world.fault({ kind: "lockedRow", object: "Contact" });

      await world.cycles(3);
      await world.pass(120);
      await world.cycles(3);

      expect(await records()).toMatchObject([{ LastName: "Curie", Title: "Professor" }]);
      expect(await rows()).toMatchObject([{ lastname: "Curie", title: "Professor" }]);
    },
  );

  test("takes its row with it when the later one wins and that is the deletion", async () => {
    await world.remove("Curie");
    await change(-TEN_MINUTES);

    await world.cycles(3);

    expect([await records(), await rows()]).toEqual([[], []]);
    expect(await world.changes()).toMatchObject([{ state: "SUCCESS" }, { state: "FAILED" }]);
  });
});

const MERGED = [
  ["postgres_wins", "before any pull has met that"],
  ["latest_wins", "after a pull has met that"],
  ["salesforce_wins", "in a retry"],
  ["postgres_wins", "after a pull has met that"],
  ["postgres_wins", "in a retry"],
] as const;

test.each(firstInGate(1, MERGED))(
  "a merged record, where %s, stays merged: the change of its row fails and names the master, sent %s",
  async (policy, when) => {
    await meet(policy);
    const { id: master } = (await world.create("Master")) as { id: string };
    await world.cycles();
    if (when === "in a retry") {
      await world.fault({ kind: "lockedRow", object: "Contact" });
      await world.sql(professor);
      await world.cycles();
    }
    await world.merge("Contact", master, String(await world.idOf("Curie")));
    if (when !== "in a retry") await change(5000);

    // A beat so soon after a pull only sends.
    await world.cycle(world.contact, when.startsWith("before") ? "beat" : "poll");
    await world.pass(120);
    await world.cycles(3);

    expect(await records()).toEqual([{ LastName: "Master", Email: null, Title: null }]);
    expect(await rows()).toMatchObject([{ lastname: "Master", title: null }]);
    expect(
      (await world.changes("action, state, sf_message")).filter(({ action }) => action === "UPDATE"),
    ).toMatchObject([
      { state: "FAILED", sf_message: expect.stringContaining(`was merged into ${master} in Salesforce`) },
    ]);
  },
);

describe("where PostgreSQL wins, of three updates whose middle record is deleted in Salesforce", () => {
  beforeEach(async () => {
    await meet("postgres_wins", "Aspasia", "Meitner");
    await world.remove("Curie");
    await world.sql("UPDATE salesforce.contact SET title = 'Professor'");
  });
  const updates = () =>
    world.sql(`SELECT l.state, l.sf_message FROM salesforce._trigger_log l JOIN salesforce.contact c ON c.id = l.record_id
      WHERE action = 'UPDATE' ORDER BY c.lastname`);
  const professors = async () =>
    (await records()).filter(({ Title }) => Title === "Professor").map(({ LastName }) => LastName);
  const undelete = (fault: object) => world.fault({ path: "services/Soap", record: "undelete", ...fault });
  const ALL = ["Aspasia", "Curie", "Meitner"];

  test("all end as Salesforce has answered them, and the record is brought back", async () => {
    await world.cycles(2);

    expect((await updates()).map(({ state }) => state)).toEqual(["SUCCESS", "SUCCESS", "SUCCESS"]);
    expect(await professors()).toEqual(ALL);
    expect(await world.sql("SELECT rows_failed::int FROM salesforce._bridge_state")).toEqual([{ rows_failed: 0 }]);
  });

  longTest(
    "the one whose record cannot be brought back fails with what Salesforce said, and the others stay",
    async () => {
      await undelete({ kind: "malformedRequest", times: 0 });

      await world.cycles();

      expect(await updates()).toEqual([
        { state: "SUCCESS", sf_message: null },
        { state: "FAILED", sf_message: expect.stringContaining("ENTITY_IS_DELETED") },
        { state: "SUCCESS", sf_message: null },
      ]);
      expect(await professors()).toEqual(["Aspasia", "Meitner"]);
    },
  );
});

describe("a row that was deleted while its record was changed in Salesforce, which wins", () => {
  beforeEach(async () => {
    await meet("salesforce_wins");
    await world.sql("UPDATE salesforce.contact SET email = 'old@example.com'");
  });
  const deleteAndChange = async () => {
    await world.sql("DELETE FROM salesforce.contact");
    await world.pass(5);
    await world.patch("Curie", { Title: "Professor" });
    await world.cycles(3);
  };

  test("comes back as the record is, and nothing of its changes from before is sent", async () => {
    await deleteAndChange();

    expect(await records()).toMatchObject([{ LastName: "Curie", Email: null, Title: "Professor" }]);
    expect(await rows()).toMatchObject([{ lastname: "Curie", email: null, title: "Professor" }]);
    expect(await world.changes()).toEqual([
      { action: "INSERT", state: "SUCCESS" },
      { action: "UPDATE", state: "FAILED" },
      { action: "DELETE", state: "FAILED" },
    ]);
  });
});
