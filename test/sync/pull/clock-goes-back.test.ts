import { expect, test } from "vitest";
import { workspaces } from "../../../functions/services/composition.ts";
import { readStates } from "../../../lib/settings/mapping-states.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped, stateNeeds } from "../../support/worlds/worlds.ts";

let world: SyncWorld;
aWorldForEachTest((made) => {
  ({ world } = made);
});

const HOUR = 3_600_000;
const moveClock = (milliseconds: number) => world.control("POST", "/clock", { advanceMilliseconds: milliseconds });
const names = async () =>
  (await world.sql("SELECT lastname FROM salesforce.contact ORDER BY lastname")).map((row) => row["lastname"]);

test("when the org's clock goes back by an hour, its changes are pulled, each once, and the operator is warned", async () => {
  const many = Array.from({ length: 100 }, (_, at) => ({ LastName: `Before ${String(at).padStart(4, "0")}` }));
  const contact = await mapped(world, { object: "Contact", fields: ["LastName"] });
  await world.createRecords("Contact", many);
  const { id } = (await world.colleague("POST", "/sobjects/Contact", { LastName: "Edited" })) as { id: string };
  const gone = (await world.colleague("POST", "/sobjects/Contact", { LastName: "Gone" })) as { id: string };
  await world.cycle(contact);
  expect(await names()).toHaveLength(102);

  await moveClock(-HOUR);
  await world.pass(10);
  await world.createRecords(
    "Contact",
    Array.from({ length: 2500 }, (_, at) => ({ LastName: `Behind ${at}` })),
  );
  await world.colleague("PATCH", `/sobjects/Contact/${id}`, { LastName: "Edited again" });
  await world.colleague("DELETE", `/sobjects/Contact/${gone.id}`);
  await world.cycle(contact);

  const after = await names();
  expect(after.filter((name) => String(name).startsWith("Behind"))).toHaveLength(2500);
  expect(after).toHaveLength(2601);
  expect(after).toContain("Edited again");
  expect(after).not.toContain("Gone");
  expect(JSON.stringify(world.log)).toContain("Salesforce's clock went back");
  expect(await notices()).toEqual([expect.stringContaining("Salesforce's clock went back: changes are pulled")]);
  const kept = await world.sql("SELECT count(*)::int AS inserts FROM salesforce._trigger_log");
  expect(kept).toEqual([{ inserts: 0 }]);

  await world.pass(HOUR / 1000 + 120);
  await world.cycle(contact);
  expect(await names()).toEqual(after);
  expect(await notices()).toEqual([]);
});

/** What doctor, the API and the console show of the mapping. */
async function notices(): Promise<string[]> {
  const workspace = await workspaces().find(world.workspaceId);
  if (!workspace) throw new Error("the test's workspace is gone");
  const states = await readStates(stateNeeds(), workspace, false, new Date(world.cloud.clock.now()));
  return states.flatMap((state) => state.notices.map(({ message }) => message));
}
