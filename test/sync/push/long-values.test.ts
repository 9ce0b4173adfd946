import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";
import { database } from "../../../functions/services/composition.ts";
import { eventRows } from "../../../lib/adapters/dynamodb/delivery/events.ts";
import { databases } from "../../../lib/adapters/postgres/operations/inspect-database.ts";
import { postgresMonitoring } from "../../../lib/adapters/postgres/operations/monitoring.ts";
import { rowQueriesOf } from "../../../lib/adapters/postgres/operations/row-operations.ts";
import { judgeDatabase } from "../../../lib/settings/judge-database.ts";
import { emptyOutbox } from "../../../lib/sync/report/empty-outbox.ts";
import { publisher } from "../../../lib/webhooks/publish.ts";
import { isWholeGrid, longTest } from "../../support/run/whole-grid.ts";
import { eachInAWorld, world } from "../world.ts";

eachInAWorld(async () => {
  await world.mapContact(["Description", "LastName", "Title"]);
  await world.newEvents();
});

const outbox = async () =>
  (await world.sql("SELECT count(*)::int AS rows FROM salesforce._bridge_outbox"))[0]?.["rows"];

test("a refusal of 600,000 characters is kept cut on the row, in the log and in the event, and the next event follows", async () => {
  await world.fault({ kind: "validation", record: "Curie", message: "x".repeat(600_000) });
  await world.fault({ kind: "validation", record: "Noether", message: "must be a grown-up" });
  await world.insert("Curie", "Noether");

  await world.cycles();

  const cut = expect.stringMatching(
    /^FIELD_CUSTOM_VALIDATION_EXCEPTION: x{4061}\.{3} \(truncated, 600,035 characters\) \.{3}x{200}$/,
  );
  expect(await world.sql("SELECT _ab_lastop, _ab_err FROM salesforce.contact ORDER BY id")).toEqual([
    { _ab_lastop: "FAILED", _ab_err: cut },
    { _ab_lastop: "FAILED", _ab_err: "FIELD_CUSTOM_VALIDATION_EXCEPTION: must be a grown-up" },
  ]);
  expect((await world.newEvents()).map(({ event, detail }) => [event, detail["error"]])).toEqual([
    ["record.failed", cut],
    ["record.failed", "FIELD_CUSTOM_VALIDATION_EXCEPTION: must be a grown-up"],
  ]);
  expect(await outbox()).toBe(0);
});

/** Puts an event into the outbox as version 0.1 did: with the whole refusal. */
const waits = (detail: string) =>
  world.sql(`INSERT INTO salesforce._bridge_outbox (event, detail) VALUES ('record.failed', ${detail})`);
const small = (of: string) => waits(`jsonb_build_object('trigger_log_id', 9, 'error', '${of}')`);
const large = (bytes: number) =>
  waits(`jsonb_build_object('trigger_log_id', 7, 'error', repeat(md5('${bytes}'), ${bytes / 32}))`);

test("an event that is too long to be stored is set aside, logged and a finding of doctor, and holds up no other", async () => {
  await small("first");
  await large(512_000);
  await waits(`jsonb_build_object('table_name', repeat('x', 500000))`);
  await small("last");

  await world.cycles();

  expect((await world.newEvents()).map(({ detail }) => detail["error"])).toEqual([
    "first",
    expect.stringMatching(/^[0-9a-f]{2000}\.{3} \(truncated, 512,000 bytes\)$/),
    "last",
  ]);
  expect(await outbox()).toBe(0);
  expect(
    await world.sql(
      "SELECT event, length(detail ->> 'table_name') AS kept, reason FROM salesforce._bridge_outbox_aside",
    ),
  ).toEqual([{ event: "record.failed", kept: 500_000, reason: expect.stringContaining("at most 100000 characters") }]);
  expect(world.log.filter(({ event }) => event === "event set aside")).toMatchObject([
    { level: "error", workspace_id: world.workspaceId, event_type: "record.failed", remedy: expect.any(String) },
  ]);
  expect(await findings()).toEqual([
    {
      check: "events",
      ok: false,
      message: `1 event could not be stored, so no webhook received it; "salesforce"."_bridge_outbox_aside" keeps each with its reason`,
      remedy: `read them there, look at: bridge errors; then run: DELETE FROM "salesforce"."_bridge_outbox_aside";`,
    },
  ]);

  await world.sql("DELETE FROM salesforce._bridge_outbox_aside");

  expect(await findings()).toEqual([]);
});

/** What `bridge doctor` asks of the workspace's database. */
const findings = async () => {
  const facts = await databases.look({ url: world.databaseUrl, schema: "salesforce" });
  return judgeDatabase(facts, "salesforce", world.workspaceId).filter(({ check }) => check === "events");
};

test("while DynamoDB does not answer, no event is set aside, and the next cycle publishes them all", async () => {
  await small("first");
  await waits(`jsonb_build_object('table_name', repeat('x', 500000))`);
  const store = await world.services.connections.openStore(world.workspaceId);
  const nobody = new DynamoDBClient({ endpoint: "http://127.0.0.1:1", maxAttempts: 1 });
  const rows = eventRows(
    { ...database(), client: DynamoDBDocumentClient.from(nobody), table: (name) => name },
    () => new Date(),
  );
  const announcements = publisher({ rows, queue: { send: async () => undefined } });

  await expect(emptyOutbox({ ...world.services, announcements }, world.workspaceId, store)).rejects.toThrow(
    "ECONNREFUSED",
  );
  await store.close();

  expect(await outbox()).toBe(2);
  expect(world.log.filter(({ event }) => event === "event set aside")).toEqual([]);
  await world.cycles();
  expect((await world.newEvents()).map(({ detail }) => detail["error"])).toEqual(["first"]);
  expect(await outbox()).toBe(0);
});

longTest(
  "errors, failures, one change, inbound errors and conflicts show texts cut that earlier versions kept whole",
  async () => {
    const long = "'STRING_TOO_LONG: ' || repeat('x', 20000000)";
    const value = "jsonb_build_object('description', repeat('x', 20000000), 'title', NULL)";
    await world.sql(`INSERT INTO salesforce._trigger_log (action, table_name, record_id, state, last_operation, processed_at, sf_message, old, "values")
    SELECT 'UPDATE', 'contact', 1, 'FAILED', 'FAILED', now(), ${long}, ${value}, ${value}`);
    await world.sql(`INSERT INTO salesforce._bridge_inbound_errors (mapping_id, sfid, error, first_at, last_at)
    SELECT '${world.contact.id}', '1', ${long}, now(), now()`);
    await world.sql(`INSERT INTO salesforce._bridge_conflicts (mapping_id, sfid, record_id, base, postgres, salesforce, winner, at)
    SELECT '${world.contact.id}', '1', 1, ${long}, ${long}, ${long}, 'salesforce', now()`);
    const connection = { url: world.databaseUrl, schema: "salesforce" };
    const slice = { limit: 200, offset: 0, table: null };
    const queries = await rowQueriesOf(() => new Date()).open(connection);
    const cut = expect.stringMatching(/x{1900,2000}\.{3} \(truncated, 20,000,0\d\d bytes\)$/);

    const errors = await (await postgresMonitoring(() => new Date()).open(connection)).listErrors(slice);
    const kinds = await queries.failures(null);
    const change = await queries.change(Number((await world.sql("SELECT id FROM salesforce._trigger_log"))[0]?.["id"]));
    const inboundErrors = await queries.inboundErrors(null, slice);
    const conflicts = await queries.conflicts(null, slice);
    // Every table of a test is searched for secrets in the end.
    for (const table of ["_trigger_log", "_bridge_inbound_errors", "_bridge_conflicts"])
      await world.sql(`TRUNCATE salesforce.${table}`);

    expect(errors.rows).toMatchObject([{ _ab_err: cut }]);
    expect(kinds).toMatchObject([{ count: 1, sample: cut }]);
    const values = { description: cut, title: null };
    expect(change).toMatchObject({ message: cut, old: { description: cut }, values });
    expect(inboundErrors.rows).toMatchObject([{ error: cut }]);
    expect(conflicts.rows).toMatchObject([{ base: cut, postgres: cut, salesforce: cut }]);
  },
);

/** Far more than a claim reads of a text. */
const LONG_TEXT = isWholeGrid ? 20_000_000 : 2_000_000;

test("a text longer than its field fails its row before it is sent, with the field and the limit, and others go", async () => {
  await world.cycles();
  await world.sql(`INSERT INTO salesforce.contact (lastname, description) VALUES
    ('Curie', repeat('x', 32001)), ('Noether', repeat('x', ${LONG_TEXT})), ('Lovelace', repeat('x', 32000))`);

  await world.cycles();

  const refused =
    "STRING_TOO_LONG: Description takes 32,000 characters, and this text has more; shorten it [Description]";
  expect(await world.sql("SELECT lastname, _ab_lastop, _ab_err FROM salesforce.contact ORDER BY id")).toEqual([
    { lastname: "Curie", _ab_lastop: "FAILED", _ab_err: refused },
    { lastname: "Noether", _ab_lastop: "FAILED", _ab_err: refused },
    { lastname: "Lovelace", _ab_lastop: "INSERTED", _ab_err: null },
  ]);
  expect(await world.namesThere()).toEqual(["Lovelace"]);
  expect((await world.newEvents()).map(({ event, detail }) => [event, detail["error"]])).toEqual([
    ["record.failed", refused],
    ["record.failed", refused],
  ]);
});
