import { Client } from "pg";
import { afterAll, expect, test } from "vitest";
import { databases } from "../../lib/adapters/postgres/operations/inspect-database.ts";
import { postgresMonitoring } from "../../lib/adapters/postgres/operations/monitoring.ts";
import { rowQueriesOf } from "../../lib/adapters/postgres/operations/row-operations.ts";
import { customerSchema } from "../../lib/adapters/postgres/schema/clear-schema.ts";
import { createProvisioner } from "../../lib/adapters/postgres/schema/provision.ts";
import { herokuConnectSchemas } from "../../lib/heroku-connect/inspect-heroku-connect.ts";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { ROW_STATES } from "../../lib/model/record/row-state.ts";
import { plantShadows, type Shadows } from "../support/doubles/shadows.ts";
import { mapped } from "../support/worlds/worlds.ts";
import { allInOneWorld, world } from "./world.ts";

const FIELDS = ["AccountId", "Birthdate", "Email", "External_Id__c", "FirstName", "LastName", "Name"];
const PAGE = { limit: 20, offset: 0 };

let superuser: Client;
allInOneWorld(async () => {
  superuser = new Client({ connectionString: world.superuserUrl });
  await superuser.connect();
  await superuser.query("SET search_path = pg_catalog");
});
afterAll(() => superuser.end());

const connection = () => ({ url: world.databaseUrl, schema: "salesforce" });
const noNames = { sfid: null, row: null, key: null };

/** The steps of a workspace's life, in their order: each must leave the shadows uncalled. */
const LIFE: Readonly<Record<string, (contact: Mapping) => Promise<unknown>>> = {
  "a row goes to Salesforce": async (contact) => {
    await world.sql(
      "INSERT INTO salesforce.contact (lastname, email) VALUES ('Curie', 'marie@example.com'), ('', 'x')",
    );
    await world.cycle(contact);
  },
  "an update, a new key and a delete go": async (contact) => {
    await world.sql("UPDATE salesforce.contact SET firstname = 'Marie' WHERE lastname::text = 'Curie'");
    await world.sql("UPDATE salesforce.contact SET id = id + 1000 WHERE lastname::text = 'Curie'");
    await world.cycle(contact);
    await world.sql("DELETE FROM salesforce.contact WHERE lastname::text = 'Curie'");
    await world.cycle(contact);
  },
  "records come, change, collide and go": async (contact) => {
    const { id } = (await world.rest("POST", "/sobjects/Contact", { LastName: "Meitner" })) as { id: string };
    await world.cycle(contact);
    await world.rest("PATCH", `/sobjects/Contact/${id}`, { FirstName: "Lise", Email: "lise@example.com" });
    await world.sql("UPDATE salesforce.contact SET firstname = 'L.' WHERE lastname::text = 'Meitner'");
    await world.cycle(contact);
    await world.cycle(contact);
    await world.rest("DELETE", `/sobjects/Contact/${id}`);
    await world.pass(400);
    await world.cycle(contact);
  },
  "beats of several mappings, idle ones": async () => {
    const all = await world.mappings();
    await world.pass(20);
    await world.beat(all);
    await world.pass(20);
    await world.beat(all);
  },
  "everything is compared, and read again": async (contact) => {
    await world.work(contact, "sweep");
    const queries = await rowQueriesOf(() => new Date()).open(connection());
    await queries.startOver(contact.id);
    await world.work(contact, "load");
  },
  "the API reads": async ({ id, pgTable }) => {
    const now = () => new Date(world.cloud.clock.now());
    const queries = await rowQueriesOf(now).open(connection());
    await queries.progress();
    await queries.lag(id);
    const hour = Math.floor(now().getTime() / 3_600_000) * 3_600_000;
    await queries.throughput({ from: new Date(hour - 3_600_000), to: new Date(hour), stepSeconds: 60 });
    for (const kind of await queries.failures(pgTable)) await queries.failedRows(kind.fingerprint);
    await queries.inboundErrors(id, PAGE);
    await queries.conflicts(id, PAGE);
    await queries.heldDeletes(id, PAGE);
    await queries.forecastReject(id, null);
    await queries.recentDeletes(id);
    for (const key of ["1", "marie@example.com", "003000000000000AAA"]) await queries.story(id, key);
    await queries.change(1);
    await queries.comparedIds(id);
    for (const state of [null, ...ROW_STATES])
      for (const sortsByState of [true, false])
        await queries.browse(id, { state, sortsByState, find: "a", column: null, after: null, limit: 10 });
    await queries.browse(id, { state: null, sortsByState: false, find: "a", column: "email", after: null, limit: 10 });
    const monitored = await postgresMonitoring(now).open(connection());
    await monitored.check();
    await monitored.countNew();
    await monitored.mappingFigures([id]);
    await monitored.leaseOf(id);
    await monitored.requestAbort(id, now());
    for (const state of [null, "NEW", "PENDING", "SUCCESS", "FAILED"] as const)
      for (const table of [null, pgTable]) await monitored.listActivity({ ...PAGE, state, table });
    await monitored.listActivity({ ...PAGE, state: null, table: pgTable, named: { ...noNames, row: 1001 } });
    await monitored.listErrors({ ...PAGE, table: null });
    await monitored.listChanges({ place: null, at: now(), table: pgTable, limit: 10 });
  },
  "people retry, dismiss, confirm and reject": async ({ id }) => {
    const queries = await rowQueriesOf(() => new Date(world.cloud.clock.now())).open(connection());
    const found = await queries.findFailed({ id: null, fingerprint: null, table: null }, 10);
    for (const ids of found.idsByMapping.values()) await queries.retry(id, ids);
    await world.cycle((await world.mappings())[0] as Mapping);
    await queries.dismiss(id, [1, 2, 3]);
    await queries.retryInbound(id, null);
    await queries.writeRow(id, { recordId: "1", values: { email: "ada@example.com" }, was: {}, actor: "ada" });
    await queries.takeBackDelete(id, 1);
    await queries.restoreLater(id, { sfid: "003000000000000AAA", recordId: 1, note: "RESTORE: by hand" });
    await world.cycle((await world.mappings())[0] as Mapping);
    await queries.confirmDeletes(id, 10, null);
    await queries.putBackRows(id, null, 10, null);
    await queries.heldRecords(id, "", 10, null);
    await queries.captureAsNew(id, []);
    await queries.captureExisting(id, 10);
    await queries.captureAll(id);
    await queries.dryRun(id);
  },
  "the doctor looks, and the daily check runs": async (contact) => {
    await databases.look(connection());
    await herokuConnectSchemas.look(connection());
    await createProvisioner(connection(), () => new Date(world.cloud.clock.now())).migrate(contact);
  },
  "the mapping and the workspace go": async (contact) => {
    await createProvisioner(connection(), () => new Date(world.cloud.clock.now())).retire(contact);
    await customerSchema.waiting(connection(), world.workspaceId);
    await customerSchema.clear(connection(), world.workspaceId);
  },
};

test("what a role without rights creates in public is called at no step of a workspace's life", async () => {
  const shadows: Shadows = await plantShadows(world.superuserUrl);
  const called: Record<string, number> = {};
  try {
    await world.rest("POST", "/sobjects/Contact", { LastName: "Loaded", Email: "first@example.com" });
    const contact = await mapped(world, { object: "Contact", fields: FIELDS, upsertField: "External_Id__c" });
    await mapped(world, { object: "Account", fields: ["Name"] });
    called["it is connected, made and loaded"] = await shadows.called();
    for (const [step, live] of Object.entries(LIFE)) {
      const before = await shadows.called();
      await live(contact).catch(async (error: unknown) => {
        if ((await shadows.called()) === before) throw error;
      });
      called[step] = (await shadows.called()) - before;
    }
    expect(shadows.made).toBeGreaterThan(5_000);
    // What an index, a check or a trigger would call from now on.
    const stored = `SELECT d.classid::regclass AS of FROM pg_depend d JOIN pg_operator o ON o.oid = d.refobjid
      WHERE d.refclassid = 'pg_operator'::regclass AND o.oprnamespace = 'public'::regnamespace AND d.classid <> 'pg_operator'::regclass`;
    expect((await superuser.query(stored)).rows).toEqual([]);
  } finally {
    await shadows.remove();
  }

  expect(Object.entries(called).filter(([, count]) => count > 0)).toEqual([]);
});
