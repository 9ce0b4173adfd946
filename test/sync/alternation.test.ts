import { beforeEach, expect, test } from "vitest";
import { allInOneWorld, numbered, WIDE, WIDE_CONTACT, world } from "./world.ts";

/** What the cycles asked of the org, and wrote to it. */
let calls: string[];
allInOneWorld(async () => {
  await world.mapContact(["LastName", ...WIDE]);
  await world.cycles();
}, WIDE_CONTACT);
beforeEach(() => {
  calls = [];
});

const inOrg = async (lastName: string) =>
  (await world.soql(`SELECT count(Id) n FROM Contact WHERE LastName LIKE '${lastName}'`))[0]?.["n"];

/** One cycle in which each of these calls takes the org so many seconds. */
async function cycleTaking(seconds: Readonly<Record<string, number>>, first?: () => Promise<unknown>): Promise<void> {
  world.interfere(async (call) => {
    if (!(call in seconds)) return;
    calls.push(call);
    if (calls.length === 1) await first?.();
    await world.pass(seconds[call] ?? 0);
  });
  await world.cycles();
  world.interfere(null);
}

test("neither an insert nor a change that comes meanwhile waits for the end of a long pull", async () => {
  await world.createRecords("Contact", numbered(600, "There "));
  await world.pass(120);
  await world.insert("Here");

  await cycleTaking({ "org.query": 10, "org.write": 1 });

  // Two slots, and the call that was under way.
  expect(calls.slice(0, 4)).toContain("org.write");
  expect(await inOrg("Here")).toBe(1);
  await world.cycles(9);
  expect(await world.names()).toHaveLength(601);

  await world.pass(120);
  await world.createRecords("Contact", numbered(600, "Later there "));
  await world.pass(120);
  calls = [];
  await cycleTaking({ "org.query": 10, "org.write": 0 }, () => world.insert("Here later"));

  expect(calls.slice(0, 4)).toContain("org.write");
  expect(await inOrg("Here later")).toBe(1);
});

test("a record does not wait for the end of a long push", async () => {
  await world.pass(3_600);
  await world.cycles(2);
  await world.sql("INSERT INTO salesforce.contact (lastname) SELECT 'Crowd ' || n FROM generate_series(1, 801) n");

  await cycleTaking({ "org.query": 1, "org.write": 15 });

  expect(calls.filter((call) => call === "org.write").length).toBeGreaterThan(2);
  expect(calls.join()).not.toContain("org.write,org.write,org.write");
  await world.cycles(2);
  expect(await inOrg("Crowd %")).toBe(801);
});
