import { afterAll, beforeAll, expect, test } from "vitest";
import { now } from "../../../functions/services/composition.ts";
import { columnsToPoison, keepTables, type PoisonedColumn, poisonsOf } from "../../support/doubles/poisons.ts";
import { type PoisonedWorld, startPoisonedWorld } from "../../support/worlds/poisoned-world.ts";

/** Whose content is reported of the workspace, beside that of all others. `npm run attack` poisons all tables. */
const REPORTED = [
  "_trigger_log",
  "_bridge_totals",
  "_bridge_state",
  "_bridge_outbox",
  "_bridge_cycles",
  "_bridge_meta",
];

let poisoned: PoisonedWorld;
let columns: readonly PoisonedColumn[];
let restore: () => Promise<void>;
beforeAll(async () => {
  poisoned = await startPoisonedWorld();
  const sql = poisoned.world.sql as Parameters<typeof columnsToPoison>[0];
  const event = "INSERT INTO salesforce._bridge_outbox (event, occurred_at, detail) VALUES ('record.failed', $1, $2)";
  await sql(event, [now(), JSON.stringify({ mapping_id: poisoned.contact.id })]);
  columns = await columnsToPoison(sql, "salesforce");
  restore = await keepTables(sql, "salesforce");
}, 300_000);
afterAll(() => poisoned.close());

test.each(REPORTED)("whatever a column of %s holds, no other workspace meets it", async (table) => {
  let poison: string | null = null;
  for (const column of columns.filter((one) => one.table === table)) {
    const [statement = ""] = poisonsOf("salesforce", column);
    // What a constraint refuses, no owner writes either.
    poison ??= await poisoned.world.sql(statement).then(
      () => statement,
      () => null,
    );
  }

  await poisoned.work();
  const own = poison?.includes("infinity") ? await poisoned.own() : [];
  const wrong = [...(await poisoned.neighbours()), ...own];
  await restore();

  expect(poison).not.toBeNull();
  expect(wrong).toEqual([]);
});
