import { expect, test } from "vitest";
import { eachInAWorld, numbered, world } from "./world.ts";

/** The org has a clock of its own. Whatever is asked of the org is asked by its time. */

eachInAWorld();

const moveClock = (seconds: number) => world.control("POST", "/clock", { advanceMilliseconds: seconds * 1000 });
const TWO_MINUTES_BEHIND = -120;
const makeRecord = async (LastName: string) =>
  ((await world.colleague("POST", "/sobjects/Contact", { LastName })) as { id: string }).id;

test("a record that is created between two cycles arrives with the second, and what getDeleted did not cover yet is asked for again, from where Salesforce says", async () => {
  await moveClock(TWO_MINUTES_BEHIND);
  await world.mapContact(["LastName"]);
  await world.cycles();
  await world.pass(10);
  await makeRecord("Ada");
  await world.cycles();
  expect(await world.names()).toEqual(["Ada"]);

  await world.pass(300);
  await world.cycles();
  await world.pass(200);
  await world.removeForGood("Ada");
  await world.fault({ kind: "laggingReplication", object: "Contact", milliseconds: 180_000 });
  await world.pass(100);
  await world.cycles();
  expect(await world.names()).toEqual(["Ada"]);
  await world.pass(300);
  await world.cycles();

  expect(await world.names()).toEqual([]);
});

test("a first load hands over what was committed while it read, under a stamp from before it", async () => {
  await moveClock(TWO_MINUTES_BEHIND);
  await world.fault({ kind: "heldCommit", path: "POST .*/sobjects/Contact", milliseconds: 40_000 });
  const late = makeRecord("Late");
  await world.heldUp();
  await world.pass(20);
  await world.mapContact(["LastName"]);
  expect(await world.names()).toEqual([]);
  await world.pass(20);
  await late;
  // Ends the cycle where it would look for what was committed late, which would find what the others have missed.
  world.interfere((call) => {
    if (call === "store.unseen") throw new Error("killed");
  });

  await world.cycles();

  expect(await world.names()).toEqual(["Late"]);
});

test("a record that is committed nine minutes after its stamp arrives with the next search for late ones", async () => {
  await world.mapContact(["LastName"]);
  await world.cycles();
  await world.fault({ kind: "heldCommit", path: "POST .*/sobjects/Contact", milliseconds: 9 * 60_000 });
  const late = makeRecord("Late");
  await world.heldUp();
  await world.pass(8 * 60);
  await makeRecord("Ada");
  await world.cycles();
  expect(await world.names()).toEqual(["Ada"]);

  await world.pass(60);
  await late;
  await world.pass(300);
  await world.cycles();

  expect((await world.names()).toSorted()).toEqual(["Ada", "Late"]);
});

test("when the org's clock goes back by an hour, its changes are pulled, each once, and the operator is warned", async () => {
  const notices = async () => (await world.shown()).flatMap((state) => state.notices.map(({ message }) => message));
  await world.mapContact(["LastName"]);
  await world.createRecords("Contact", numbered(100, "Before "));
  for (const name of ["Edited", "Gone"]) await makeRecord(name);
  await world.cycles();
  expect(await world.names()).toHaveLength(102);

  await moveClock(-3_600);
  await world.pass(10);
  await world.createRecords("Contact", numbered(2500, "Behind "));
  await world.patch("Edited", { LastName: "Edited again" }, "colleague");
  await world.remove("Gone");
  await world.cycles();

  const after = await world.names();
  expect(after.filter((name) => String(name).startsWith("Behind"))).toHaveLength(2500);
  expect(after).toHaveLength(2601);
  expect(after).toContain("Edited again");
  expect(after).not.toContain("Gone");
  expect(JSON.stringify(world.log)).toContain("Salesforce's clock went back");
  expect(await notices()).toEqual([expect.stringContaining("Salesforce's clock went back: changes are pulled")]);
  expect(await world.changes()).toEqual([]);

  await world.pass(3_720);
  await world.cycles();
  expect(await world.names()).toEqual(after);
  expect(await notices()).toEqual([]);
});
