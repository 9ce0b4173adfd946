import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { literal } from "../../lib/adapters/postgres/session/sql.ts";
import { ask } from "../support/clients/ask.ts";
import type { SyncWorld } from "../support/worlds/sync-world.ts";
import { tokenFor } from "../support/worlds/workspace.ts";
import { aWorldForEachTest, mapped } from "../support/worlds/worlds.ts";

let world: SyncWorld;
aWorldForEachTest(async (made) => {
  ({ world } = made);
  await mapped(world, { object: "Contact", fields: ["LastName"] });
});

/** What another transaction has locked before a request, and what it asks for while the request waits for it. */
const HOLDS = "SELECT FROM salesforce._bridge_totals FOR UPDATE";
const WANTS = "SELECT FROM salesforce._trigger_log FOR UPDATE";

test("a retry of rows that is undone by a deadlock is done again, and once", async () => {
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");
  await world.sql(
    "UPDATE salesforce._trigger_log SET state = 'FAILED', last_operation = 'FAILED', processed_at = now(), sf_message = 'no'",
  );
  await world.sql(
    "INSERT INTO salesforce._bridge_totals (table_name, failed) VALUES ('contact', 1) ON CONFLICT (table_name) DO UPDATE SET failed = 1",
  );
  const [here] = await world.sql("SELECT current_database() AS name");
  // The request finds the deadlock, not the other: of two that wait, the one whose time to look has come first.
  await world.asSuperuser(`ALTER DATABASE ${here?.["name"]} SET deadlock_timeout = '2s'`);
  await world.pass(16); // it holds for sessions that begin, so none is kept from before
  const other = new Client({ connectionString: world.superuserUrl });
  other.on("error", () => undefined); // its database goes first
  await other.connect();
  onTestFinished(() => other.end());
  await other.query("SET deadlock_timeout = '1h'; SET statement_timeout = '30s'; BEGIN");
  await other.query(HOLDS);

  const path = { workspace_id: world.workspaceId };
  const answering = ask("retry-rows", { token: await tokenFor(world.workspaceId), path, body: { table: "contact" } });
  await other.query(onceSomebodyWaitsForMe(WANTS));
  await other.query("COMMIT");

  expect((await answering).json).toMatchObject({ success: true, data: { retried: 1, remaining: 0 } });
  const changed =
    "SELECT state, _ab_lastop, t.failed::int FROM salesforce._trigger_log, salesforce.contact, salesforce._bridge_totals t";
  expect(await world.sql(changed)).toEqual([{ state: "NEW", _ab_lastop: "PENDING", failed: 0 }]);
});

/** By the server itself: a busy test process would ask only after the request has looked for a deadlock. */
function onceSomebodyWaitsForMe(statement: string): string {
  return `DO $$ BEGIN
    WHILE NOT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))) LOOP
      PERFORM pg_sleep(0.01);
    END LOOP;
    EXECUTE ${literal(statement)};
  END $$`;
}
