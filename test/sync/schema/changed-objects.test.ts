import { DeleteCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { database, mappings as kept, queue } from "../../../functions/services/composition.ts";
import { provisioningServices, schedules, swept } from "../../../functions/services/provisioning-services.ts";
import { hash } from "../../../lib/model/beat.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import type { Outgoing, ProvisioningMessage } from "../../../lib/model/messages.ts";
import { sweep } from "../../../lib/sync/beat/sweep-minute.ts";
import { provisionMapping } from "../../../lib/sync/schema/provision-mapping.ts";
import { type BridgeCloud, startBridgeCloud } from "../../support/worlds/bridge-cloud.ts";
import { createSyncWorld, type Row, type SyncWorld } from "../../support/worlds/sync-world.ts";

let cloud: BridgeCloud;
let world: SyncWorld;
let contact: Mapping;
const log: Row[] = [];
beforeAll(async () => {
  cloud = await startBridgeCloud();
  world = await createSyncWorld(cloud);
  await world.map({ object: "Contact", fields: ["Email", "LastName"] }, { object: "Account", fields: ["Name"] });
});
afterAll(async () => {
  await world.close();
  await cloud.close();
});
beforeEach(async () => {
  contact = await mappingOf("Contact");
});

async function mappingOf(object: string): Promise<Mapping> {
  const found = (await world.mappings()).find(({ sfObject }) => sfObject === object);
  if (!found) throw new Error(`${object} is not mapped`);
  return found;
}

/** What the provisioning worker would do with its messages, those that it sends itself included. */
async function provision(): Promise<void> {
  for (;;) {
    const messages = (await cloud.take("provisioning")) as ProvisioningMessage[];
    if (messages.length === 0) return;
    const services = { ...provisioningServices(cloud.clock.now() + 300_000), log: (line: Row) => log.push(line) };
    for (const message of messages) await provisionMapping(services, message);
  }
}

const look = async () => {
  const { workspaceId: workspace_id, id: mapping_id } = contact;
  await queue("provisioning").send([{ message: { workspace_id, mapping_id, import_id: null, describe: true } }]);
  await provision();
};
const typeOfLastName = async () =>
  (
    await world.sql(
      `SELECT format_type(atttypid, atttypmod) AS type FROM pg_attribute
       WHERE attrelid = 'salesforce.contact'::regclass AND attname = 'lastname'`,
    )
  )[0]?.["type"];

/** Makes table and shape as they were when the field was shorter. */
async function lastNameWas(length: number): Promise<void> {
  const [trigger] = await world.sql(
    `SELECT pg_get_triggerdef(oid) AS definition FROM pg_trigger
     WHERE tgrelid = 'salesforce.contact'::regclass AND tgname = 'zz_bridge_update'`,
  );
  await world.sql("DROP TRIGGER zz_bridge_update ON salesforce.contact");
  await world.sql(`ALTER TABLE salesforce.contact ALTER COLUMN lastname TYPE varchar(${length})`);
  await world.sql(String(trigger?.["definition"]));
  await world.sql(
    `UPDATE salesforce._bridge_state SET shape = jsonb_set(shape, '{columns}', (
       SELECT jsonb_agg(CASE WHEN c ->> 'column' = 'lastname' THEN c || '{"length": ${length}}' ELSE c END)
       FROM jsonb_array_elements(shape -> 'columns') c)) WHERE mapping_id = $1`,
    [contact.id],
  );
}

/** What the sweep asks of provisioning so many minutes from now. */
async function askedAfter(minutes: number): Promise<ProvisioningMessage[]> {
  const asked: ProvisioningMessage[] = [];
  const queues = {
    provisioning: {
      send: async (messages: readonly Outgoing<ProvisioningMessage>[]) =>
        void asked.push(...messages.map(({ message }) => message)),
    },
    loads: { send: async () => undefined },
  };
  const clock = { ...cloud.clock, now: () => cloud.clock.now() + minutes * 60_000 };
  await sweep({ mappings: kept(), schedules: schedules(), swept: swept(), queues, clock, log: () => undefined });
  return asked.filter(({ mapping_id }) => mapping_id === contact.id);
}

/** As before the service's first sweep. */
const neverSwept = () =>
  database().client.send(
    new DeleteCommand({ TableName: database().table("engine"), Key: { pk: "sweep", sk: "minute" } }),
  );

test("once a day, at the mapping's own minute, the sweep asks for a check of the object", async () => {
  const day = 24 * 60;
  const until = ((hash(contact.id) % day) - (Math.floor(cloud.clock.now() / 60_000) % day) + day) % day;

  expect(await askedAfter(until)).toEqual([
    { workspace_id: contact.workspaceId, mapping_id: contact.id, import_id: null, describe: true },
  ]);
  expect(await askedAfter(until + 1)).toEqual([]);
});

test("a mapping whose minute passed without a sweep is checked by the next one, and once", async () => {
  const day = 24 * 60;
  const until = day + ((hash(contact.id) % day) - (Math.floor(cloud.clock.now() / 60_000) % day));
  await neverSwept();

  expect(await askedAfter(until - 1)).toEqual([]);
  expect(await askedAfter(until + 45)).toHaveLength(1);
  expect(await askedAfter(until + 46)).toEqual([]);
});

test("after an outage of hours each mapping is looked at once, some with each sweep", async () => {
  const day = 24 * 60;
  await neverSwept();
  const asked = [(await askedAfter(0)).length];

  for (let minute = 0; minute < 24; minute++) asked.push((await askedAfter(day - 24 + minute)).length);

  expect(asked.reduce((sum, count) => sum + count)).toBe(1);
});

test("a check of an object that is as it was changes nothing", async () => {
  await look();

  expect(await mappingOf("Contact")).toMatchObject({ configVersion: contact.configVersion });
});

test("a field that has grown in Salesforce widens its column without any user's doing", async () => {
  await lastNameWas(10);
  const longName = "Skłodowska-Curie-of-Warsaw";
  await world.rest("POST", "/sobjects/Contact", { LastName: longName });
  await world.cycle(contact);
  const narrow = await world.sql("SELECT error FROM salesforce._bridge_inbound_errors");

  await look();
  const renewed = await mappingOf("Contact");
  await world.work(renewed, "sweep");

  expect(narrow).toMatchObject([{ error: expect.stringMatching(/too long for type character varying\(10\)/) }]);
  expect(renewed).toMatchObject({ configVersion: contact.configVersion + 1, provisioning: { state: "ready" } });
  expect(await typeOfLastName()).toBe("character varying(80)");
  expect(await world.sql("SELECT lastname FROM salesforce.contact")).toEqual([{ lastname: longName }]);
  expect(log).toContainEqual(
    expect.objectContaining({ event: "object_described", mapping_id: contact.id, changed: ["lastname"] }),
  );
});

test("a column that a view holds narrow is tried once, reported each day, and tried again with the next version", async () => {
  await world.sql("DELETE FROM salesforce.contact");
  await lastNameWas(10);
  await world.sql("CREATE VIEW names AS SELECT lastname FROM salesforce.contact");

  await look();
  const once = await mappingOf("Contact");
  await look();
  await look();
  const after = await mappingOf("Contact");
  const narrow = await typeOfLastName();
  await world.sql("DROP VIEW names");
  await world.map({ object: "Contact", fields: ["Email", "LastName", "Title"] });

  expect(once.configVersion).toBe(contact.configVersion + 1);
  expect(after.configVersion).toBe(once.configVersion);
  expect(narrow).toBe("character varying(10)");
  expect(log.filter(({ message }) => String(message).startsWith("narrower"))).toMatchObject([
    { level: "warn", mapping_id: contact.id, columns: ["lastname"] },
    { level: "warn" },
  ]);
  expect(await typeOfLastName()).toBe("character varying(80)");
});

test("a field that is gone from Salesforce breaks its own mapping, by name, and no other", async () => {
  await cloud.take("events");
  const account = await mappingOf("Account");
  await world.sql("ALTER TABLE salesforce.contact ADD COLUMN gone__c varchar(80)");
  await world.sql(
    `UPDATE salesforce._bridge_state SET shape = jsonb_set(shape, '{columns}', shape -> 'columns' ||
       jsonb_build_array((shape -> 'columns' -> 0) || '{"field": "Gone__c", "column": "gone__c"}')) WHERE mapping_id = $1`,
    [contact.id],
  );
  await world.rest("POST", "/sobjects/Account", { Name: "Continues" });

  for (let i = 0; i < 3; i++) await world.cycle(contact);
  await world.cycle(account);

  const sent = (await cloud.take("events")) as { event_id: string }[];
  expect(await world.events(sent.map(({ event_id }) => event_id))).toMatchObject([
    {
      event: "sync.broken",
      detail: { mapping_id: contact.id, sf_object: "Contact", message: expect.stringContaining("Gone__c") },
    },
  ]);
  expect(await world.sql("SELECT name FROM salesforce.account")).toEqual([{ name: "Continues" }]);
});

test("the daily check brings the metadata of a schema to this version, which a deployment alone does not", async () => {
  await world.sql("DROP VIEW salesforce._trigger_log_archive");
  await world.sql(`DO $$ DECLARE made record; BEGIN
    FOR made IN SELECT relname FROM pg_class WHERE relnamespace = 'salesforce'::regnamespace AND relkind = 'r'
      AND (starts_with(relname, '_bridge_') AND relname <> '_bridge_meta' OR relname = '_trigger_log')
    LOOP EXECUTE format('DROP TABLE salesforce.%I CASCADE', made.relname); END LOOP; END $$`);
  await world.sql("UPDATE salesforce._bridge_meta SET schema_version = 0");

  await look();

  expect(await world.sql("SELECT schema_version > 0 AS moved FROM salesforce._bridge_meta")).toEqual([{ moved: true }]);
  expect(await world.sql("SELECT count(*)::int AS n FROM salesforce._trigger_log_archive")).toEqual([{ n: 0 }]);
});
