import { Client } from "pg";
import { expect, onTestFinished, test, vi } from "vitest";
import { ask } from "../support/clients/ask.ts";
import type { SyncWorld } from "../support/worlds/sync-world.ts";
import { tokenFor } from "../support/worlds/workspace.ts";
import { aWorldForEachTest, mapped } from "../support/worlds/worlds.ts";

let world: SyncWorld;
aWorldForEachTest(async (made) => {
  ({ world } = made);
  await mapped(world, { object: "Contact", fields: ["LastName"] });
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");
  await world.sql(
    "UPDATE salesforce._trigger_log SET state = 'FAILED', last_operation = 'FAILED', processed_at = now(), sf_message = 'no'",
  );
  await world.sql(
    "INSERT INTO salesforce._bridge_totals (table_name, failed) VALUES ('contact', 1) ON CONFLICT (table_name) DO UPDATE SET failed = 1",
  );
});

const retryRows = async () =>
  ask("retry-rows", {
    token: await tokenFor(world.workspaceId),
    path: { workspace_id: world.workspaceId },
    body: { table: "contact" },
  });

const CHANGED =
  "SELECT state, _ab_lastop, t.failed::int FROM salesforce._trigger_log, salesforce.contact, salesforce._bridge_totals t";

/** What another transaction locks before a request, and what it asks for while the request waits for it. */
const HOLDS = "FROM salesforce._bridge_totals FOR UPDATE";
const WANTS = "FROM salesforce._trigger_log FOR UPDATE";
/** The totals that nothing has locked. */
const UNLOCKED = "SELECT FROM salesforce._bridge_totals FOR UPDATE SKIP LOCKED";

test("a retry of rows that is undone by two deadlocks, one after the other, is done again, and counts once", async () => {
  const [here] = await world.sql("SELECT current_database() AS name");
  // The request finds the deadlock, not the other: of two that wait, the one whose time to look has come first.
  await world.asSuperuser(`ALTER DATABASE ${here?.["name"]} SET deadlock_timeout = '2s'`);
  await world.pass(16); // it holds for sessions that begin, so none is kept from before
  const other = new Client({ connectionString: world.superuserUrl });
  other.on("error", () => undefined); // its database goes first
  await other.connect();
  onTestFinished(() => other.end());
  await other.query("SET deadlock_timeout = '1h'; SET statement_timeout = '60s'");
  const clashing = other.query(clashes(2));
  await vi.waitFor(async () => expect(await world.sql(UNLOCKED)).toEqual([]));

  const answering = retryRows();
  await clashing;

  expect((await answering).json).toMatchObject({ success: true, data: { retried: 1, remaining: 0 } });
  expect(await world.sql(CHANGED)).toEqual([{ state: "NEW", _ab_lastop: "PENDING", failed: 0 }]);
});

test("a retry of rows that is undone each time changes nothing, and says so to the caller, who may ask again", async () => {
  await world.sql(`
    CREATE FUNCTION public.undo() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$;
    CREATE TRIGGER undo AFTER UPDATE ON salesforce._trigger_log EXECUTE FUNCTION public.undo()`);
  const before = await world.sql(CHANGED);

  const answer = await retryRows();

  expect(answer.status).toBe(503);
  expect(answer.headers["Retry-After"]).toBe("1");
  expect(answer.json?.error?.message).toMatch(/other transactions were in its way each time; send the request again$/);
  expect(await world.sql(CHANGED)).toEqual(before);
});

/** By the server itself: a busy test process would ask only after the request has looked for a deadlock. */
const clashes = (times: number): string => `DO $$ BEGIN
  FOR n IN 1..${times} LOOP
    PERFORM ${HOLDS};
    WHILE NOT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))) LOOP
      PERFORM pg_sleep(0.01);
    END LOOP;
    PERFORM ${WANTS};
    COMMIT;
  END LOOP; END $$`;
