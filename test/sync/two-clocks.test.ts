import { expect, test } from "vitest";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import type { SyncWorld } from "../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../support/worlds/worlds.ts";

/** The org has a clock of its own, two minutes behind the service's. Whatever is asked of the org is asked by its time. */

let world: SyncWorld;
aWorldForEachTest(async (made) => {
  ({ world } = made);
  await world.control("POST", "/clock", { advanceMilliseconds: -120_000 });
});

const map = (): Promise<Mapping> => mapped(world, { object: "Contact", fields: ["LastName"] });
const names = async () =>
  (await world.sql("SELECT lastname FROM salesforce.contact ORDER BY id")).map(({ lastname }) => lastname);
const makeRecord = (LastName: string) => world.colleague("POST", "/sobjects/Contact", { LastName });

test("a record that is created between two cycles arrives with the second, and what getDeleted did not cover yet is asked for again, from where Salesforce says", async () => {
  const contact = await map();
  await world.cycle(contact);
  await world.pass(10);
  const { id } = (await makeRecord("Ada")) as { id: string };
  await world.cycle(contact);
  expect(await names()).toEqual(["Ada"]);

  await world.pass(300);
  await world.cycle(contact);
  await world.pass(200);
  await world.rest("DELETE", `/sobjects/Contact/${id}`);
  await world.control("DELETE", "/recycle-bin");
  await world.fault({ kind: "laggingReplication", object: "Contact", milliseconds: 180_000 });
  await world.pass(100);
  await world.cycle(contact);
  const whileItLags = await names();
  await world.pass(300);
  await world.cycle(contact);

  expect(whileItLags).toEqual(["Ada"]);
  expect(await names()).toEqual([]);
});

test("a first load hands over what was committed while it read, under a stamp from before it", async () => {
  await world.fault({ kind: "heldCommit", path: "POST .*/sobjects/Contact", milliseconds: 40_000 });
  const late = makeRecord("Late");
  await world.heldUp();
  await world.pass(20);
  const contact = await map();
  expect(await names()).toEqual([]);
  await world.pass(20);
  await late;
  // Ends the cycle where it would look for what was committed late, which would find what the others have missed.
  world.interfere((call) => {
    if (call === "store.unseen") throw new Error("killed");
  });

  await world.cycle(contact);

  expect(await names()).toEqual(["Late"]);
});
