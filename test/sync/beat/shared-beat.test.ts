import type { SQSEvent } from "aws-lambda";
import { expect, test, vi } from "vitest";
import { handler } from "../../../functions/workers/run-cycle.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import type { CyclesMessage } from "../../../lib/model/messages.ts";
import { countCalls } from "../../support/checks/count-writes.ts";
import { allInOneWorld, world } from "../world.ts";

const FIELDS: Readonly<Record<string, string>> = { Account: "Name", Contact: "LastName", Lead: "LastName" };

let mappings: readonly Mapping[];
allInOneWorld(async () => {
  const asked = Object.entries(FIELDS).map(([object, field]) => ({ object, fields: [field, "Description"] }));
  mappings = await world.map(...asked);
  for (const mapping of mappings) await world.cycle(mapping);
});

/** One message of the beat for all mappings, as the queue hands it to the function. */
async function beat(more: readonly string[] = []) {
  await world.pass(10);
  const [first = "", ...also] = [...mappings.map(({ id }) => id), ...more];
  const slot = Math.floor(world.cloud.clock.now() / 1000);
  const message: CyclesMessage = { workspace_id: world.workspaceId, mapping_id: first, also, kind: "beat", slot };
  return handler({ Records: [{ messageId: "one", body: JSON.stringify(message) }] } as SQSEvent);
}

test("one message of the beat runs the cycle of every mapping that it names, beside one that is gone", async () => {
  await world.sql("INSERT INTO salesforce.account (name) VALUES ('Acme')");
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Lovelace')");

  expect(await beat(["map_gone"])).toEqual({ batchItemFailures: [] });

  expect(await world.soql("SELECT Name FROM Account WHERE Name = 'Acme'")).toHaveLength(1);
  expect(await world.soql("SELECT LastName FROM Contact WHERE LastName = 'Lovelace'")).toHaveLength(1);
});

test("idle mappings are not read again, the probe is claimed once, and nothing is written for each", async () => {
  await beat();

  const calls = await countCalls(beat);

  // Nothing was changed, as the head says: before the cycles, and before the probe.
  expect(calls["GetItem mappings"]).toBe(2);
  expect(calls["BatchGetItem mappings"] ?? calls["Query mappings"]).toBeUndefined();
  expect(calls["Query engine"]).toBe(1);
  const writes = Object.entries(calls).filter(([call]) => /^(Put|Update|Delete|Transact|BatchWrite)/.test(call));
  expect(writes).toEqual([["UpdateItem engine", 1]]);
});

test("when every mapping asks the org, they share its session, and its count of calls is kept once", async () => {
  await world.pass(300);

  const calls = await countCalls(beat);

  // The database, the session, and whether the workspace or the deployment is paused.
  expect(calls["GetItem workspaces"]).toBe(4);
  // The claim of the probe, and the count.
  expect(calls["UpdateItem engine"]).toBe(2);
});

test("an idle mapping whose record has changed pulls in the same beat, beside others that stay idle", async () => {
  await world.pass(300);
  await beat();
  await world.rest("POST", "/sobjects/Lead", { LastName: "Hopper", Company: "Navy" });

  await beat();

  expect(await world.sql("SELECT lastname FROM salesforce.lead WHERE lastname = 'Hopper'")).toHaveLength(1);
});

test("after a time without beats no mapping sends what Salesforce has changed meanwhile as well, and wins", async () => {
  for (const [object, field] of Object.entries(FIELDS)) {
    const more = object === "Lead" ? { Company: "Navy" } : {};
    await world.rest("POST", `/sobjects/${object}`, { [field]: "Rested", Description: "first", ...more });
  }
  for (const mapping of mappings) await world.cycle(mapping);
  await world.pass(3600);
  for (const [object, field] of Object.entries(FIELDS)) {
    const [record] = await world.soql(`SELECT Id FROM ${object} WHERE ${field} = 'Rested'`);
    await world.rest("PATCH", `/sobjects/${object}/${record?.["Id"]}`, { Description: "theirs" });
    await world.sql(`UPDATE salesforce.${object.toLowerCase()} SET description = 'ours' WHERE description = 'first'`);
  }

  await beat();

  for (const [object, field] of Object.entries(FIELDS))
    expect(await world.soql(`SELECT Description FROM ${object} WHERE ${field} = 'Rested'`)).toMatchObject([
      { Description: "theirs" },
    ]);
});

test("an org that answers the probe with an error breaks the mapping whose beat asked, as a cycle of its own would", async () => {
  await world.pass(300);
  await beat();
  const lines = vi.spyOn(console, "error").mockImplementation(() => undefined);
  await world.fault({ kind: "unavailable", times: 10 });

  await beat();

  const logged = lines.mock.calls.map(([line]) => JSON.parse(String(line)) as Record<string, unknown>);
  lines.mockRestore();
  expect(logged.filter(({ event, level }) => event === "cycle" && level === "error")).toHaveLength(1);
});
