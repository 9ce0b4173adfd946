import type { SQSEvent } from "aws-lambda";
import { expect, test, vi } from "vitest";
import { handler } from "../../../functions/workers/run-cycle.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import type { CyclesMessage } from "../../../lib/model/messages.ts";
import { countCalls } from "../../support/checks/count-writes.ts";
import { allInOneWorld, world } from "../world.ts";

const FIELDS: Readonly<Record<string, string>> = { Account: "Name", Contact: "LastName", Lead: "LastName" };

const INSIDE = { filter: "Company != 'Elsewhere'" };
let mappings: readonly Mapping[];
allInOneWorld(async () => {
  const asked = Object.entries(FIELDS).map(([object, field]) => ({ object, fields: [field, "Description"] }));
  mappings = await world.map(...asked.map((one) => (one.object === "Lead" ? { ...one, bridge: INSIDE } : one)));
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

  const arrived = (name: string) => world.sql("SELECT id FROM salesforce.lead WHERE lastname = $1", [name]);
  expect(await arrived("Hopper")).toHaveLength(1);
  // Of what the beat asks for the answer may be cut before what is new.
  await world.fault({ kind: "smallBatches", path: "/query", size: 1, times: 0 });
  await world.rest("POST", "/sobjects/Lead", { LastName: "Later", Company: "Navy" });
  await beat();
  await world.control("DELETE", "/faults");
  expect(await arrived("Later")).toHaveLength(1);
  const [hopper] = await world.soql("SELECT Id FROM Lead WHERE LastName = 'Hopper'");
  await world.rest("PATCH", `/sobjects/Lead/${hopper?.["Id"]}`, { Company: "Elsewhere" });
  await beat();
  expect(await arrived("Hopper"), "it has left the filter").toEqual([]);
});

test("a delete that Salesforce lists late, or not any more, is found by a later beat or by a sweep", async () => {
  const { id } = (await world.rest("POST", "/sobjects/Account", { Name: "Late" })) as { id: string };
  await world.pass(300);
  await beat();
  await world.rest("DELETE", `/sobjects/Account/${id}`);
  await world.control("DELETE", "/recycle-bin");
  await world.pass(400);
  await world.fault({ kind: "laggingReplication", object: "Account", milliseconds: 500_000 });
  await beat();
  await world.pass(400);
  await beat();
  expect(await world.sql("SELECT FROM salesforce.account WHERE name = 'Late'")).toEqual([]);
  await world.cloud.take("loads");
  await world.sql("UPDATE salesforce._bridge_state SET deleted = deleted - interval '16 days'");
  await world.pass(400);
  await beat();
  expect(await world.cloud.take("loads")).toContainEqual(expect.objectContaining({ kind: "sweep" }));
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
