import { afterEach, beforeEach, expect, test } from "vitest";
import { captureAllOf } from "../../../../lib/adapters/postgres/schema/capture-existing.ts";
import { createProvisioner } from "../../../../lib/adapters/postgres/schema/provision.ts";
import { metadata } from "../../../../lib/adapters/postgres/session/sql.ts";
import { column, contactShape, mappingOf } from "../../../support/worlds/shapes.ts";
import { type Customer, createCustomer, untilSomebodyWaits } from "../customer.ts";

/** What an application's writers notice of changes to their table. */

let customer: Customer;
beforeEach(async () => {
  customer = await createCustomer();
});
afterEach(() => customer.close());

const wider = { columns: [...contactShape().columns, column("Title")] };

test.each([
  ["a new column", () => customer.provision({ configVersion: 2, ...wider })],
  [
    "newer triggers",
    async () => {
      await customer.sql(`UPDATE salesforce._bridge_state SET layout = layout || '{"captureVersion": 1}'`);
      const connection = { url: customer.url, schema: "salesforce" };
      await createProvisioner(connection, () => customer.now).migrate(mappingOf(customer.shape));
    },
  ],
  ["the end of a mapping", () => customer.retire()],
])("%s waits for a transaction that has written the table, and other writers do not wait for it", async (_, change) => {
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Curie'), ('Noether')");
  const [user, writer] = [await customer.connect(), await customer.connect()];
  await user.query("BEGIN; UPDATE salesforce.contact SET email = 'user@example.com' WHERE id = 1");
  await writer.query("SET lock_timeout = '1s'");

  const changing = change();
  await untilSomebodyWaits(customer.application);
  const written = await writer.query("UPDATE salesforce.contact SET email = 'writer@example.com' WHERE id = 2");
  await user.query("COMMIT");
  await changing;

  expect(written.rowCount).toBe(1);
  expect(await customer.sql("SELECT email FROM salesforce.contact ORDER BY id")).toEqual([
    { email: "user@example.com" },
    { email: "writer@example.com" },
  ]);
});

test("rows that an operator has captured are locked a thousand at a time", async () => {
  await customer.sql("INSERT INTO salesforce.contact (lastname) SELECT 'L' || n FROM generate_series(1, 2500) n");
  await customer.sql("TRUNCATE salesforce._trigger_log");
  await customer.sql(captureAllOf(metadata("salesforce")), [customer.shape.mappingId]);

  await customer.provision();

  expect(
    await customer.sql(
      "SELECT count(*)::int AS rows FROM salesforce._trigger_log GROUP BY xmin::text ORDER BY min(id)",
    ),
  ).toEqual([{ rows: 1_000 }, { rows: 1_000 }, { rows: 500 }]);
});
