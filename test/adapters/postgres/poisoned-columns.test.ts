import { afterAll, beforeAll, expect, test } from "vitest";
import { now } from "../../../functions/services/composition.ts";
import { metadata } from "../../../lib/adapters/postgres/session/sql.ts";
import { newDryRun } from "../../../lib/model/record/dry-run.ts";
import { columnsToPoison, keepTables, type PoisonedColumn, poisonsOf } from "../../support/doubles/poisons.ts";
import { type PoisonedWorld, startPoisonedWorld } from "../../support/worlds/poisoned-world.ts";

/** The tables of ours that a workspace has from its beginning, as the code names them. */
const TABLES = Object.values(metadata("s"))
  .map((name) => name.replaceAll('"', "").replace("s.", ""))
  .filter((name) => /^(_bridge_(?!hc_|outbox_aside|trigger_log)|_trigger_log$)/.test(name));

/** Whose content is reported of the workspace, beside that of all others. `npm run attack` poisons every column. */
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
  await sql(FILL, [poisoned.contact.id, JSON.stringify(newDryRun("run_1", now())), now()]);
  columns = await columnsToPoison(sql, "salesforce");
  restore = await keepTables(sql, "salesforce");
}, 300_000);
afterAll(() => poisoned.close());

/** A row in every table that has none. */
const FILL = `WITH m AS (SELECT $1::text AS id, '003000000000001AAA'::text AS sfid),
  a AS (INSERT INTO salesforce._bridge_aborts SELECT id, 1, now() FROM m),
  o AS (INSERT INTO salesforce._bridge_outbox (event, occurred_at, detail)
    SELECT 'record.failed', $3, jsonb_build_object('mapping_id', id) FROM m),
  p AS (INSERT INTO salesforce._bridge_pushed SELECT id, now(), ARRAY[sfid] FROM m),
  i AS (INSERT INTO salesforce._bridge_inbound_errors SELECT id, sfid, 'no', '23503', 1, now(), now(), NULL FROM m),
  t AS (INSERT INTO salesforce._bridge_tombstones (mapping_id, sfid, record_id, reason, by_salesforce, stamp, deleted_at)
    SELECT id, sfid, 1, 'deleted', true, now(), now() FROM m),
  h AS (INSERT INTO salesforce._bridge_held_deletes SELECT id, sfid, now(), now(), now() FROM m),
  c AS (INSERT INTO salesforce._bridge_conflicts (mapping_id, sfid, record_id, field, base, postgres, salesforce, winner, at)
    SELECT id, sfid, 1, 'lastname', 'a', 'b', 'c', 'postgres', now() FROM m),
  y AS (INSERT INTO salesforce._bridge_history (mapping_id, record_id, at, fields)
    SELECT id, 1, now(), '{"lastname": ["a", "b"]}' FROM m),
  r AS (INSERT INTO salesforce._bridge_in_hand SELECT 'batch', 'contact', ARRAY[1] FROM m)
  INSERT INTO salesforce._bridge_dry_runs SELECT id, $2::jsonb FROM m`;

test("the tables that are poisoned are those that the catalog has", () => {
  expect([...new Set(columns.map(({ table }) => table))].toSorted()).toEqual(TABLES.toSorted());
});

test.each(REPORTED)(
  "whatever a column of %s holds, no other workspace meets it",
  { timeout: 1_800_000 },
  async (table) => {
    const statements = columns
      .filter((one) => one.table === table)
      .flatMap((one) => poisonsOf("salesforce", one)[0] ?? []);
    const isWritten = (statement: string) =>
      poisoned.world.sql(statement).then(
        () => true,
        () => false,
      );
    // What a constraint refuses, no owner writes either.
    let poison: string | undefined;
    for (const statement of statements) {
      if (poison === undefined && (await isWritten(statement))) poison = statement;
    }

    await poisoned.work();
    const own = poison?.includes("infinity") ? await poisoned.own() : [];
    const wrong = [...(await poisoned.neighbours()), ...own];
    await restore();

    expect(poison).toBeDefined();
    expect(wrong).toEqual([]);
  },
);
