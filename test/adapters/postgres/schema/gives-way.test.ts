import { expect, test } from "vitest";
import { captureAllOf } from "../../../../lib/adapters/postgres/schema/capture-existing.ts";
import { metadata } from "../../../../lib/adapters/postgres/session/sql.ts";
import { column, contactShape } from "../../../support/worlds/shapes.ts";
import { untilSomebodyWaits } from "../customer.ts";
import { aCustomerForEachTest, customer, dailyCheck, insertMany, sql, transaction } from "../world.ts";

/** What an application's writers notice of changes to their table. */

aCustomerForEachTest();

const wider = { columns: [...contactShape().columns, column("Title")] };

test.each([
  ["a new column", () => customer.provision({ configVersion: 2, ...wider })],
  [
    "newer triggers",
    async () => {
      await sql(`UPDATE salesforce._bridge_state SET layout = layout || '{"captureVersion": 1}'`);
      await dailyCheck();
    },
  ],
  ["the end of a mapping", () => customer.retire()],
])("%s waits for a transaction that has written the table, and other writers do not wait for it", async (_, change) => {
  await insertMany(2);
  const user = await transaction("UPDATE salesforce.contact SET email = 'user@example.com' WHERE id = 1");
  const writer = await customer.connect();
  await writer.query("SET lock_timeout = '1s'");

  const changing = change();
  await untilSomebodyWaits(customer.application);
  const written = await writer.query("UPDATE salesforce.contact SET email = 'writer@example.com' WHERE id = 2");
  await user.query("COMMIT");
  await changing;

  expect(written.rowCount).toBe(1);
  expect(await sql("SELECT email FROM salesforce.contact ORDER BY id")).toEqual([
    { email: "user@example.com" },
    { email: "writer@example.com" },
  ]);
});

test("rows that an operator has captured are locked a thousand at a time", async () => {
  await insertMany(2_500);
  await sql("TRUNCATE salesforce._trigger_log");
  await sql(captureAllOf(metadata("salesforce")), [customer.shape.mappingId]);

  await customer.provision();

  expect(
    await sql("SELECT count(*)::int AS rows FROM salesforce._trigger_log GROUP BY xmin::text ORDER BY min(id)"),
  ).toEqual([{ rows: 1_000 }, { rows: 1_000 }, { rows: 500 }]);
});
