import { describe, expect, test, vi } from "vitest";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { FEWEST as MANY } from "../../support/doubles/small-jobs.ts";
import { longTest } from "../../support/run/whole-grid.ts";
import { ingestJobs, untilJobsEnd } from "../../support/worlds/bulk-jobs.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";
import { countRecords, countStates } from "./questions.ts";

vi.mock(import("../../../lib/model/change/ways.ts"), async (original) =>
  (await import("../../support/doubles/small-jobs.ts")).smallJobs(original),
);

const ELEVEN_MINUTES = 11 * 60;

let world: SyncWorld;
let contact: Mapping;
aWorldForEachTest(async (made) => {
  ({ world } = made);
  const fields = ["Birthdate", "Description", "Email", "External_Id__c", "LastName", "MailingLatitude", "Title"];
  contact = await mapped(world, { object: "Contact", fields, upsertField: "External_Id__c" });
});

const insertMany = (count = MANY) =>
  world.sql(
    `INSERT INTO salesforce.contact (lastname, external_id__c, title)
     SELECT 'L' || i, 'K-' || i, 'old' FROM generate_series(1, $1) i`,
    [count],
  );
const states = () => countStates(world);
const rows = (condition = "true") =>
  world.sql(
    `SELECT count(*)::int AS n, count(DISTINCT sfid)::int AS records FROM salesforce.contact WHERE ${condition}`,
  );
const count = (condition?: string) => countRecords(world, condition);
const ingested = async () => {
  const requests = (await world.control("GET", "/requests")) as { method: string; path: string }[];
  // Without the lists of jobs, which only these tests ask for.
  return requests
    .map(({ method, path }) => `${method} ${path}`)
    .filter((request) => /\/jobs\/ingest/.test(request) && !/^GET .*\/jobs\/ingest$/.test(request));
};
const jobs = () => ingestJobs(world);

/** Jobs stay at work until the org's time has advanced by that much. */
const slowJobs = (seconds: number) =>
  world.fault({ kind: "heldCommit", path: "BULK", milliseconds: seconds * 1000, times: 1 });

/** Kills a cycle before its `nth` call after it began with a job; says whether it came so far. */
function killAfterOpening(nth: number) {
  let calls = 0;
  let isOpening = false;
  world.interfere((call) => {
    isOpening ||= call === "org.openBulkSave";
    if (isOpening) calls += 1;
    if (calls >= nth) throw new Error("killed");
  });
  return () => calls >= nth;
}

/** A cycle that waits for its job as long as it ever does, without our waiting for it. */
const cycleInMovedTime = () => world.untilDone(world.cycleOnTestClock(contact));

/**
 * A cycle, and those that follow while its job is at work: on a busy machine the org takes longer for one than a cycle waits.
 */
async function push(): Promise<void> {
  await world.cycle(contact);
  for (let rounds = 1; "PENDING" in (await states()); rounds += 1) {
    expect(rounds, "cycles after which the rows of a job are still under way").toBeLessThan(5);
    await untilJobsEnd(world);
    await world.pass(10);
    await world.cycle(contact);
  }
}

/** As the next minutes would: the dead holder's lease runs out, beats continue, what is in doubt becomes known. */
async function settleDown(): Promise<void> {
  await world.sql("UPDATE salesforce._bridge_state SET lease_until = NULL");
  for (const seconds of [10, 60, ELEVEN_MINUTES, 10, 60]) {
    await world.pass(seconds);
    await world.cycle(contact);
  }
  await push();
}

/** Nothing was lost and nothing doubled. */
async function expectEachOnce(): Promise<void> {
  expect(await states()).toEqual({ SUCCESS: MANY });
  expect(await rows("sfid IS NOT NULL")).toEqual([{ n: MANY, records: MANY }]);
  expect(await count()).toBe(MANY);
}

describe("many rows", () => {
  test("become records and are deleted by one job each, for few calls, each counted as the org counts it", async () => {
    await insertMany();

    await push();

    expect(await states()).toEqual({ SUCCESS: MANY });
    expect(await rows("_ab_lastop = 'INSERTED' AND sfid IS NOT NULL")).toEqual([{ n: MANY, records: MANY }]);
    expect(await count("Title = 'old'")).toBe(MANY);
    const [state] = await world.sql("SELECT api_calls FROM salesforce._bridge_state");
    const counted = state?.["api_calls"] as Record<string, number>;
    expect(counted["BULK"]).toBe((await ingested()).length);
    expect(counted["BULK"]).toBeLessThanOrEqual(10);
    expect(counted["SOAP"]).toBeUndefined();

    const [gone] = await world.sql("SELECT sfid FROM salesforce.contact WHERE id = 3");
    await world.rest("DELETE", `/sobjects/Contact/${gone?.["sfid"]}`);
    await world.sql("DELETE FROM salesforce.contact");
    await world.sql("UPDATE salesforce._trigger_log SET confirmed = true WHERE action = 'DELETE'");

    await push();

    expect(await states(), "what was deleted there before counts as done").toEqual({ SUCCESS: 2 * MANY });
    expect(await count()).toBe(0);
    expect(await jobs()).toHaveLength(2);
  });

  longTest("arrive with every character, number and NULL as they are, and only what was changed", async () => {
    const texts = ['a "quoted", text', "two\nlines\r\nand ;tab\t|", "Ünïcødé 😀 ‮", "#n/a", "=1+1", "#N/A"];
    await insertMany(MANY + 1);
    await push();
    const [edited] = await world.sql("SELECT sfid FROM salesforce.contact WHERE id = 9");
    await world.sql(
      `UPDATE salesforce.contact SET description = coalesce(($1::text[])[id], 'plain'), email = NULL, title = NULL,
         birthdate = '1867-11-07', mailinglatitude = 12.5`,
      [texts],
    );
    await world.rest("PATCH", `/sobjects/Contact/${edited?.["sfid"]}`, { LastName: "Changed there" });

    await push();

    expect(await states()).toEqual({ SUCCESS: 2 * (MANY + 1) });
    const found = await world.soql(
      `SELECT Description, Birthdate, MailingLatitude, Title, LastName FROM Contact
       WHERE External_Id__c IN ('K-1', 'K-2', 'K-3', 'K-4', 'K-5', 'K-6', 'K-7', 'K-9') ORDER BY External_Id__c`,
    );
    expect(found.map(({ Description }) => Description)).toEqual([...texts, "plain", "plain"]);
    for (const record of found) {
      expect(record).toMatchObject({ Birthdate: "1867-11-07", MailingLatitude: 12.5, Title: null });
    }
    expect(found.at(-1)).toMatchObject({ LastName: "Changed there" });
    const saves = world.log.flatMap((line) => (line["saves"] as number | undefined) ?? []);
    expect(
      saves.reduce((sum, some) => sum + some, -1),
      "one job, and one call for the text that would clear a field there",
    ).toBe(2);
  });

  test("are refused one by one, by the same rules as in a call of SOAP", async () => {
    await insertMany(MANY + 2); // the two that are not like the others go by a call
    await push();
    await world.fault({ kind: "lockedRow", record: "L5", times: 1 });
    await world.sql(
      "UPDATE salesforce.contact SET lastname = CASE id WHEN 7 THEN NULL WHEN 5 THEN 'L5' ELSE lastname || '!' END",
    );

    await push();

    const failed = await world.sql("SELECT record_id, sf_message FROM salesforce._trigger_log WHERE state = 'FAILED'");
    expect(failed).toEqual([
      { record_id: "7", sf_message: "REQUIRED_FIELD_MISSING: Required fields are missing: [LastName] [LastName]" },
    ]);
    expect(await count("LastName LIKE '%!'")).toBe(MANY);
    expect(await rows("_ab_lastop = 'FAILED' AND _ab_err LIKE 'REQUIRED%'")).toMatchObject([{ n: 1 }]);
    // By the job's own answer, not looked up as if it had been lost.
    expect((await ingested()).filter((request) => /failedResults/.test(request))).not.toEqual([]);
  });
});

describe("a job that takes long", () => {
  test("is left running, holds back its own rows only, and is continued by a later cycle with what both sides changed meanwhile", async () => {
    await insertMany();
    await push();
    await world.sql("UPDATE salesforce.contact SET title = 'here'");
    // The last record of the job: the org locks the first 200.
    const [{ id, sfid } = {}] = await world.sql(
      `SELECT c.id, c.sfid FROM salesforce._trigger_log l JOIN salesforce.contact c ON c.id = l.record_id
       ORDER BY l.id DESC LIMIT 1`,
    );
    await slowJobs(60);
    await world.control("DELETE", "/requests");
    await cycleInMovedTime();
    expect(await states()).toEqual({ SUCCESS: MANY, PENDING: MANY });
    const looks = (await ingested()).filter((request) => /^GET .*\/jobs\/ingest\/\w+$/.test(request));
    expect(looks.length, "in the few seconds that a cycle waits").toBeLessThanOrEqual(4);
    await world.rest("PATCH", `/sobjects/Contact/${sfid}`, { LastName: "Changed there" });
    await world.sql("UPDATE salesforce.contact SET title = 'newer' WHERE id = 100");
    await world.sql("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('Other', 'O-1')");

    await world.cycle(contact);
    expect(await states()).toEqual({ PENDING: MANY, NEW: 1, SUCCESS: MANY + 1 });
    const row = `SELECT lastname, title FROM salesforce.contact WHERE id = ${id}`;
    const both = { lastname: "Changed there", title: "here" };
    expect(await world.sql(row), "an image from before the save must not undo it").toEqual([both]);
    await world.pass(61);
    await world.cycle(contact);
    await world.pass(30);
    await world.cycle(contact);

    expect(await states()).toEqual({ SUCCESS: 2 * MANY + 2 });
    expect(await world.soql("SELECT Title FROM Contact WHERE External_Id__c = 'K-100'")).toEqual([{ Title: "newer" }]);
    expect(await world.sql(row)).toEqual([both]);
    expect(await world.soql(`SELECT LastName, Title FROM Contact WHERE Id = '${sfid}'`)).toEqual([
      { LastName: "Changed there", Title: "here" },
    ]);
    expect(await count()).toBe(MANY + 1);
    expect(await jobs()).toHaveLength(2);
  });
});

test("a job whose start is not answered is looked for, and not sent again beside itself", async () => {
  await insertMany();
  await world.fault({ kind: "saveThenDrop", path: "^PATCH .*/jobs/ingest", times: 1 });
  await push();
  await settleDown();

  await expectEachOnce();
  expect(await jobs()).toHaveLength(1);
});

test("a job that a person aborts leaves its rows in doubt, for it may still be saving them", async () => {
  await insertMany();
  await push();
  await world.sql("UPDATE salesforce.contact SET title = 'new'");
  let isKilled = false;
  world.interfere((call) => {
    isKilled ||= call === "org.startBulkSave";
    if (isKilled) throw new Error("killed");
  });
  await world.cycle(contact);
  world.interfere(null);
  const job = (await jobs()).find(({ state }) => state === "Open");
  await world.rest("PATCH", `/jobs/ingest/${job?.id}`, { state: "Aborted" });
  await world.sql("UPDATE salesforce._bridge_state SET lease_until = NULL");

  await world.pass(60);
  await world.cycle(contact);

  expect(await states()).toEqual({ SUCCESS: MANY, PENDING: MANY });
});

describe("a job goes by SOAP", () => {
  test("when the org has no Bulk API for it", async () => {
    await insertMany();
    await world.fault({ kind: "malformedRequest", path: "POST .*/jobs/ingest", times: 0 });

    await world.cycle(contact);

    expect(await states()).toEqual({ SUCCESS: MANY });
    expect(world.log.find(({ saves }) => saves === Math.ceil(MANY / 200))).toMatchObject({
      notes: [expect.stringContaining("the Bulk API refused")],
    });
  });

  test("after it has failed as a whole, and once only", async () => {
    await insertMany();
    await push();
    await world.sql("UPDATE salesforce.contact SET title = 'new'");
    await world.fault({ kind: "failedJob", path: "BULK" });

    await push();
    await push();

    expect(await states()).toEqual({ SUCCESS: 2 * MANY });
    expect(await count()).toBe(MANY);
    expect((await jobs()).map(({ state }) => state)).toEqual(["JobComplete", "Failed"]);
  });
});

test("rows that change again while their job is at work go again after it", async () => {
  await insertMany();
  await push();
  await world.sql("UPDATE salesforce.contact SET title = 'new'");
  let isFirst = true;
  world.interfere(async (call) => {
    if (call !== "org.startBulkSave" || !isFirst) return;
    isFirst = false;
    await world.sql("UPDATE salesforce.contact SET title = 'newer' WHERE id < 10");
  });

  await push();
  world.interfere(null);

  expect(await states()).toEqual({ SUCCESS: 2 * MANY + 9 });
  expect([await count("Title = 'new'"), await count("Title = 'newer'")]).toEqual([MANY - 9, 9]);
  const unnamed = await world.sql("SELECT FROM salesforce._trigger_log WHERE batch_id IS NULL");
  expect(unnamed, "each change is known by the call that carried it").toEqual([]);
});

longTest(
  "a new row waits behind the delete of the record with its upsert value, also when that job fails",
  async () => {
    await insertMany();
    await push();
    await world.sql("DELETE FROM salesforce.contact");
    await world.sql("UPDATE salesforce._trigger_log SET confirmed = true WHERE action = 'DELETE'");
    await world.sql(
      `INSERT INTO salesforce.contact (lastname, external_id__c, title)
     SELECT 'L' || i, 'K-' || i, 'again' FROM generate_series(1, $1) i`,
      [MANY],
    );
    await world.fault({ kind: "failedJob", path: "BULK delete" });

    await push();
    // On a busy machine a job outlives its cycle, and what it failed to delete has its next turn later.
    for (let more = 0; more < 5 && "NEW" in (await states()); more++) {
      await world.pass(60);
      await push();
    }

    expect(await states()).toEqual({ SUCCESS: 3 * MANY });
    expect(await count("Title = 'again'")).toBe(MANY);
    expect(await rows("sfid IS NOT NULL")).toEqual([{ n: MANY, records: MANY }]);
  },
);

test("a lost answer to its creation loses nothing and doubles nothing", async () => {
  await insertMany();
  await world.fault({ kind: "saveThenDrop", path: "POST .*/jobs/ingest$" });

  await world.cycle(contact);
  await settleDown();

  await expectEachOnce();
});

longTest("a holder that was stopped before it started its job starts nothing: its successor did, once", async () => {
  await insertMany();
  await slowJobs(30);
  let isStopped = false;
  world.interfere(async (call) => {
    if (call !== "org.startBulkSave" || isStopped) return;
    isStopped = true;
    await world.sql("UPDATE salesforce._bridge_state SET lease_until = NULL");
    await world.pass(10);
    await world.cycle(contact);
    await world.pass(31);
    await world.cycle(contact);
    await world.sql("UPDATE salesforce.contact SET title = 'newer' WHERE id < 10");
    await world.cycle(contact);
  });

  await world.cycle(contact);
  world.interfere(null);
  await settleDown();

  expect(await states()).toEqual({ SUCCESS: MANY + 9 });
  expect([await count(), await count("Title = 'newer'")]).toEqual([MANY, 9]);
  expect((await jobs()).map(({ state }) => state)).toEqual(["JobComplete"]);
});

longTest(
  "a cycle can be killed at any step of two jobs, of changed and of new rows, and nothing is lost and nothing doubled",
  async () => {
    let kills = 0;
    for (let isReached = true; isReached; kills += 1) {
      const turn = `turn ${kills}`;
      const before = `K-${kills - 1}-%`;
      await world.sql("UPDATE salesforce.contact SET title = $1 WHERE external_id__c LIKE $2", [turn, before]);
      await world.sql(
        `INSERT INTO salesforce.contact (lastname, external_id__c, title)
       SELECT 'L', 'K-' || $1::int || '-' || i, $2 FROM generate_series(1, $3::int) i`,
        [kills, turn, MANY],
      );
      const wasReached = killAfterOpening(kills + 1);
      await world.cycle(contact);
      world.interfere(null);
      isReached = wasReached();
      await settleDown();

      const open = await world.sql("SELECT FROM salesforce._trigger_log WHERE state <> 'SUCCESS'");
      const counts = [await count(), await count(`Title = '${turn}'`)];
      const ofThisTurn = MANY * Math.min(kills + 1, 2);
      expect({ kills, open, counts }).toEqual({ kills, open: [], counts: [(kills + 1) * MANY, ofThisTurn] });
    }
    expect(kills).toBeGreaterThan(12);
  },
);
