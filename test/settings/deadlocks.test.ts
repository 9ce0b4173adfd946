import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { literal } from "../../lib/adapters/postgres/session/sql.ts";
import type { RouteName } from "../../lib/http/routes.ts";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { ask } from "../support/clients/ask.ts";
import { isWholeGrid } from "../support/run/whole-grid.ts";
import type { BridgeCloud } from "../support/worlds/bridge-cloud.ts";
import type { Row, SyncWorld } from "../support/worlds/sync-world.ts";
import { tokenFor } from "../support/worlds/workspace.ts";
import { aWorldForEachTest, mapped } from "../support/worlds/worlds.ts";

let cloud: BridgeCloud;
let world: SyncWorld;
let contact: Mapping;
let token: string;
aWorldForEachTest(async (made) => {
  ({ cloud, world } = made);
  await cloud.take("loads"); // what the test before has asked for
  contact = await mapped(world, { object: "Contact", fields: ["LastName"] });
  token = await tokenFor(world.workspaceId);
});

const STATE = "SELECT FROM salesforce._bridge_state";

interface Case {
  readonly route: RouteName;
  readonly before: readonly string[];
  /** What another transaction has locked before the request, and what it asks for while the request waits for it. */
  readonly holds: string;
  readonly wants: string;
  readonly answers: object;
  /** A query of what the request changes, and what it gives then. */
  readonly changed: string;
  readonly to: readonly Row[];
}

const CASES: readonly Case[] = [
  {
    route: "reload-mapping",
    before: [],
    holds: "SELECT FROM salesforce._bridge_loads FOR UPDATE",
    wants: `${STATE} FOR UPDATE`,
    answers: {},
    changed: "SELECT load ->> 'kind' AS kind FROM salesforce._bridge_loads",
    to: [{ kind: "backfill" }],
  },
  {
    route: "retry-rows",
    before: [
      "INSERT INTO salesforce.contact (lastname) VALUES ('Curie')",
      `UPDATE salesforce._trigger_log SET state = 'FAILED', last_operation = 'FAILED', processed_at = now(), sf_message = 'no'`,
      "INSERT INTO salesforce._bridge_totals (table_name, failed) VALUES ('contact', 1) ON CONFLICT (table_name) DO UPDATE SET failed = 1",
    ],
    holds: "SELECT FROM salesforce._bridge_totals FOR UPDATE",
    wants: "SELECT FROM salesforce._trigger_log FOR UPDATE",
    answers: { retried: 1, remaining: 0 },
    changed:
      "SELECT state, _ab_lastop, t.failed::int FROM salesforce._trigger_log, salesforce.contact, salesforce._bridge_totals t",
    to: [{ state: "NEW", _ab_lastop: "PENDING", failed: 0 }],
  },
  {
    route: "push-existing",
    before: [
      "SET bridge.in_sync = 'contact'",
      "INSERT INTO salesforce.contact (lastname) VALUES ('Curie')",
      "RESET bridge.in_sync",
    ],
    holds: "LOCK TABLE salesforce.contact IN ACCESS EXCLUSIVE MODE",
    wants: "LOCK TABLE salesforce._trigger_log IN EXCLUSIVE MODE",
    answers: { queued: 1, more: false },
    changed: "SELECT action, record_id::int FROM salesforce._trigger_log",
    to: [{ action: "INSERT", record_id: 1 }],
  },
  {
    route: "confirm-deletes",
    before: [
      `INSERT INTO salesforce._bridge_held_deletes (mapping_id, sfid, held_at, stamp, read_at)
       SELECT mapping_id, sfid, now(), now(), now() FROM salesforce._bridge_state, (VALUES ('A'), ('B')) AS s (sfid)`,
    ],
    holds: "SELECT FROM salesforce._bridge_held_deletes WHERE sfid = 'B' FOR UPDATE",
    wants: "SELECT FROM salesforce._bridge_held_deletes WHERE sfid = 'A' FOR UPDATE",
    answers: { confirmed: 2 },
    changed: "SELECT sfid, confirmed FROM salesforce._bridge_held_deletes ORDER BY 1",
    to: [
      { sfid: "A", confirmed: true },
      { sfid: "B", confirmed: true },
    ],
  },
  {
    route: "abort-poll",
    before: ["UPDATE salesforce._bridge_state SET lease_until = clock_timestamp() + interval '1 hour'"],
    holds: `${STATE} FOR UPDATE`,
    wants: "LOCK TABLE salesforce._bridge_aborts IN EXCLUSIVE MODE",
    answers: { aborted: true },
    changed: "SELECT count(*)::int AS aborts FROM salesforce._bridge_aborts",
    to: [{ aborts: 1 }],
  },
];

/** The gate undoes one of the routes, the long tier each. */
test.for(isWholeGrid ? CASES : CASES.filter(({ route }) => route === "retry-rows"))(
  "$route, undone by a deadlock, is done again, and once",
  async (asked) => {
    for (const statement of asked.before) await world.sql(statement);
    const [here] = await world.sql("SELECT current_database() AS name");
    // The request finds the deadlock, not the other: of two that wait, the one whose time to look has come first.
    await world.asSuperuser(`ALTER DATABASE ${here?.["name"]} SET deadlock_timeout = '2s'`);
    await world.pass(16); // it holds for sessions that begin, so none is kept from before
    const other = await connect();
    await other.query("SET deadlock_timeout = '1h'; SET statement_timeout = '30s'; BEGIN");
    await other.query(asked.holds);

    const answering = ask(asked.route, {
      token,
      path: { workspace_id: world.workspaceId, mapping_id: contact.id },
      ...(asked.route === "retry-rows" ? { body: { table: "contact" } } : {}),
    });
    await other.query(onceSomebodyWaitsForMe(asked.wants));
    await other.query("COMMIT");
    const { json } = await answering;

    expect(json).not.toHaveProperty("error");
    expect(json).toMatchObject({ success: true, data: asked.answers });
    expect(await world.sql(asked.changed)).toEqual(asked.to);
  },
);

/** By the server itself: a busy test process would ask only after the request has looked for a deadlock. */
function onceSomebodyWaitsForMe(statement: string): string {
  return `DO $$ BEGIN
    WHILE NOT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))) LOOP
      PERFORM pg_sleep(0.01);
    END LOOP;
    EXECUTE ${literal(statement)};
  END $$`;
}

async function connect(): Promise<Client> {
  const client = new Client({ connectionString: world.superuserUrl });
  client.on("error", () => undefined); // its database goes first
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}
