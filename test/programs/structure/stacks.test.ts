import { writeFileSync } from "node:fs";
import pg from "pg";
import { expect, test } from "vitest";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";
import { framesOf, type Stack } from "./frames.ts";

let world: Parameters<Parameters<typeof aWorldForEachTest>[0]>[0]["world"];
aWorldForEachTest((made) => {
  world = made.world;
});

/** The statements that a cycle sends, by what they write; the deepest stack of each counts. */
const WRITES: Readonly<Record<string, (text: string, values: string) => boolean>> = {
  "a change is marked as sent": (text) => text.includes("_trigger_log") && /\bsent_at = \$/.test(text),
  "a change is accepted": (text, values) => text.includes("_trigger_log") && values.includes("SUCCESS"),
  "a pulled record is applied": (text) =>
    /(INSERT INTO|UPDATE) "salesforce"\."contact"/.test(text) && text.includes("systemmodstamp"),
};

test("few calls lie between a cycle and what it writes", async () => {
  const contact = await mapped(world, { object: "Contact", fields: ["LastName", "Email", "External_Id__c"] });
  await world.createRecords("Contact", [{ LastName: "Curie" }]);
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Lovelace')");

  const stacks = await stacksDuring(async () => {
    await world.cycle(contact);
    const [record] = await world.soql("SELECT Id FROM Contact WHERE LastName = 'Curie'");
    await world.rest("PATCH", `/sobjects/Contact/${record?.["Id"]}`, { Email: "marie@example.com" });
    await world.cycle(contact);
  });

  const file = process.env["STRUCTURE_REPORT"];
  if (file !== undefined) writeFileSync(file, JSON.stringify(stacks));
  expect(Object.keys(stacks).sort()).toEqual(Object.keys(WRITES).sort());
  const depths = Object.fromEntries(Object.entries(stacks).map(([what, { frames }]) => [what, frames.length]));
  expect(depths["a change is accepted"]).toBeLessThanOrEqual(15);
  expect(depths["a change is marked as sent"]).toBeLessThanOrEqual(14);
  expect(depths["a pulled record is applied"]).toBeLessThanOrEqual(19);
});

/** Runs the work and keeps the deepest stack of each kind of write. */
async function stacksDuring(work: () => Promise<void>): Promise<Record<string, Stack>> {
  const stacks: Record<string, Stack> = {};
  const { query } = pg.Client.prototype;
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = Number.POSITIVE_INFINITY;
  pg.Client.prototype.query = function (this: pg.Client, ...asked: unknown[]) {
    const [first] = asked as [string | { text: string; values?: unknown[] }];
    const { text, values = [] } = typeof first === "string" ? { text: first } : first;
    for (const [what, matches] of Object.entries(WRITES)) {
      if (!matches(text, JSON.stringify(values))) continue;
      const stack = framesOf(new Error().stack ?? "");
      if (stack.frames.length > (stacks[what]?.frames.length ?? 0)) stacks[what] = stack;
    }
    return Reflect.apply(query, this, asked);
  } as typeof query;
  try {
    await work();
    return stacks;
  } finally {
    pg.Client.prototype.query = query;
    Error.stackTraceLimit = limit;
  }
}
