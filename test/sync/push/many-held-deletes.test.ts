import { expect, test } from "vitest";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";

let world: SyncWorld;
let contact: Mapping;
aWorldForEachTest(async (made) => {
  ({ world } = made);
  contact = await mapped(world, { object: "Contact", fields: ["LastName"] });
});

/** So many deletes are held, and one row waits; claims meet what PostgreSQL says of a statement that took too long. */
async function claimBeside(held: number): Promise<Record<string, unknown> | undefined> {
  await world.sql(
    `INSERT INTO salesforce._trigger_log (action, table_name, record_id, sfid, state, held)
     SELECT 'DELETE', 'contact', -i, '003' || lpad(i::text, 15, '0'), 'NEW', true FROM generate_series(1, $1) i`,
    [held],
  );
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Lovelace')");
  world.interfere((call) => {
    const error = new Error("canceling statement due to statement timeout");
    if (call === "store.claim") throw Object.assign(error, { code: "57014" });
  });
  await world.cycle(contact);
  world.interfere(null);
  return world.log.findLast(({ event }) => event === "cycle");
}

test("where so many deletes are held that nothing can be claimed beside them, that is what is told", async () => {
  expect(await claimBeside(200_000)).toMatchObject({
    reason: "postgres_unavailable",
    message: expect.stringMatching(
      /^200000 deletes are held: confirm or reject them .*; until then nothing of this mapping is sent/,
    ),
  });
});

test("where few are, the statement's own trouble is told", async () => {
  expect(await claimBeside(5)).toMatchObject({
    reason: "postgres_unavailable",
    message: expect.not.stringContaining("deletes"),
  });
});
