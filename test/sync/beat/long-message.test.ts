import type { SQSEvent } from "aws-lambda";
import { expect, test } from "vitest";
import { handler } from "../../../functions/workers/run-cycle.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { type CyclesMessage, cyclesIn } from "../../../lib/model/messages.ts";
import { longTest } from "../../support/run/whole-grid.ts";
import { allInOneWorld, world } from "../world.ts";

const MANY = 13;
const objects = Array.from({ length: MANY }, (_, at) => ({
  name: `Thing${at + 1}__c`,
  fields: [{ name: "Code__c", type: "text" as const, length: 20, externalId: true, unique: true }],
}));

let mappings: readonly Mapping[];
allInOneWorld(
  async () => {
    mappings = await world.map(...objects.map(({ name }) => ({ object: name, fields: ["Name", "Code__c"] })));
    for (const mapping of mappings) await world.cycle(mapping);
  },
  { definition: { objects } },
);

/** A row that waits in the table of each of these mappings. */
const insert = async (some: readonly Mapping[], code: string) => {
  for (const { pgTable } of some) await world.sql(`INSERT INTO salesforce.${pgTable} (code__c) VALUES ('${code}')`);
};

const sent = async (code: string) => {
  const found = await Promise.all(
    objects.map(({ name }) => world.soql(`SELECT Id FROM ${name} WHERE Code__c = '${code}'`)),
  );
  return found.filter(({ length }) => length === 1).length;
};

/** The function gets one message of the beat for these mappings. */
function run(message: CyclesMessage) {
  return handler({ Records: [{ messageId: "one", body: JSON.stringify(message) }] } as SQSEvent);
}

async function beat(some: readonly Mapping[]) {
  await world.pass(10);
  const [mapping_id = "", ...also] = some.map(({ id }) => id);
  await world.cloud.take("cycles"); // those that provisioning sent
  const slot = Math.floor(world.cloud.clock.now() / 1000);
  const message: CyclesMessage = { workspace_id: world.workspaceId, mapping_id, also, kind: "beat", slot };
  expect(await run(message)).toEqual({ batchItemFailures: [] });
  const left = (await world.cloud.take("cycles")) as CyclesMessage[];
  // The probe sends single pulls to mappings that do not wait for it.
  return { slot, left: left.filter(({ kind, also }) => kind === "beat" || also !== undefined) };
}

test("of thirteen mappings with work ten are at work, and three go to a message of the same slot, which sends theirs", async () => {
  await insert(mappings, "all");

  const { slot, left } = await beat(mappings);

  expect((await beat(mappings.slice(0, 10))).left, "ten are never divided").toEqual([]);
  expect(left.map((message) => [message.slot, cyclesIn(message).length])).toEqual([[slot, 3]]);
  expect(await sent("all")).toBe(10);
  for (const message of left) await run(message);
  expect(await sent("all")).toBe(MANY);
});

longTest("of thirteen without rows that wait and with news of the org, three are pulled by another call", async () => {
  await world.pass(300);
  for (const message of (await beat(mappings)).left) await run(message);
  await world.pass(60);
  for (const { name } of objects) await world.colleague("POST", `/sobjects/${name}`, { Code__c: "news" });

  const { left } = await beat(mappings);

  // As a beat of its slot it would ask no probe again, and end as idle.
  expect(left.map((message) => [message.kind, message.slot, cyclesIn(message).length])).toEqual([["pull", null, 3]]);
  for (const message of left) await run(message);
  const found = mappings.map(({ pgTable }) => world.sql(`SELECT FROM salesforce.${pgTable} WHERE code__c = 'news'`));
  expect((await Promise.all(found)).filter(({ length }) => length === 1)).toHaveLength(MANY);
});
