import { DeleteCommand } from "@aws-sdk/lib-dynamodb";
import { beforeEach, expect, test } from "vitest";
import { database, mappings as kept } from "../../../functions/services/composition.ts";
import { provisioningServices, schedules, swept } from "../../../functions/services/provisioning-services.ts";
import { hash } from "../../../lib/model/beat.ts";
import type { Outgoing, ProvisioningMessage } from "../../../lib/model/messages.ts";
import { sweep } from "../../../lib/sync/beat/sweep-minute.ts";
import { provisionMapping } from "../../../lib/sync/schema/provision-mapping.ts";
import { allInOneWorld, world } from "../world.ts";

allInOneWorld(async () => {
  await world.map({ object: "Contact", fields: ["Email", "LastName"] }, { object: "Account", fields: ["Name"] });
});
beforeEach(async () => {
  world.contact = await world.mappingOf();
});

const typeOfLastName = async () =>
  (
    await world.sql(
      `SELECT format_type(atttypid, atttypmod) AS type FROM pg_attribute
       WHERE attrelid = 'salesforce.contact'::regclass AND attname = 'lastname'`,
    )
  )[0]?.["type"];

/** Makes table and shape as they were when the field had ten characters. */
async function lastNameWasShort(): Promise<void> {
  const [trigger] = await world.sql(
    `SELECT pg_get_triggerdef(oid) AS definition FROM pg_trigger
     WHERE tgrelid = 'salesforce.contact'::regclass AND tgname = 'zz_bridge_update'`,
  );
  await world.sql(`DROP TRIGGER zz_bridge_update ON salesforce.contact;
    ALTER TABLE salesforce.contact ALTER COLUMN lastname TYPE varchar(10); ${trigger?.["definition"]};
    UPDATE salesforce._bridge_state SET shape = jsonb_set(shape, '{columns}', (
       SELECT jsonb_agg(CASE WHEN c ->> 'column' = 'lastname' THEN c || '{"length": 10}' ELSE c END)
       FROM jsonb_array_elements(shape -> 'columns') c)) WHERE mapping_id = '${world.contact.id}'`);
}

const DAY = 24 * 60;
/** Minutes until the mapping's own one. */
const untilItsMinute = () => {
  const minute = Math.floor(world.cloud.clock.now() / 60_000);
  return ((hash(world.contact.id) % DAY) - (minute % DAY) + DAY) % DAY;
};

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
  const clock = { ...world.cloud.clock, now: () => world.cloud.clock.now() + minutes * 60_000 };
  await sweep({ mappings: kept(), schedules: schedules(), swept: swept(), queues, clock, log: () => undefined });
  return asked.filter(({ mapping_id }) => mapping_id === world.contact.id);
}

/** As before the service's first sweep. */
const neverSwept = () =>
  database().client.send(
    new DeleteCommand({ TableName: database().table("engine"), Key: { pk: "sweep", sk: "minute" } }),
  );

test("once a day, at the mapping's own minute or by the next sweep after it, the sweep asks for a check of the object", async () => {
  const until = untilItsMinute();
  expect(await askedAfter(until)).toEqual([
    { workspace_id: world.contact.workspaceId, mapping_id: world.contact.id, import_id: null, describe: true },
  ]);
  expect(await askedAfter(until + 1)).toEqual([]);

  await neverSwept();
  expect(await askedAfter(until + DAY - 1)).toEqual([]);
  expect(await askedAfter(until + DAY + 45)).toHaveLength(1);
  expect(await askedAfter(until + DAY + 46)).toEqual([]);

  await neverSwept();
  let asked = (await askedAfter(0)).length;
  for (let minute = 0; minute < 24; minute++) asked += (await askedAfter(DAY - 24 + minute)).length;
  expect(asked, "after an outage of hours each mapping is looked at once, some with each sweep").toBe(1);
});

test("a field that has grown in Salesforce widens its column without any user's doing, and one that is as it was changes nothing", async () => {
  const before = world.contact.configVersion;
  await world.describeDaily();
  expect(await world.mappingOf()).toMatchObject({ configVersion: before });
  await lastNameWasShort();
  const longName = "Skłodowska-Curie-of-Warsaw";
  await world.create(longName);
  await world.cycles();
  const narrow = await world.setAside();

  await world.describeDaily();
  const renewed = await world.mappingOf();
  await world.work(renewed, "sweep");

  expect(narrow).toMatchObject([{ error: expect.stringMatching(/too long for type character varying\(10\)/) }]);
  expect(renewed).toMatchObject({ configVersion: before + 1, provisioning: { state: "ready" } });
  expect(await typeOfLastName()).toBe("character varying(80)");
  expect(await world.names()).toEqual([longName]);
  expect(world.log).toContainEqual(
    expect.objectContaining({ event: "object_described", mapping_id: world.contact.id, changed: ["lastname"] }),
  );
});

test("a column that a view holds narrow is tried once, reported each day, and tried again with the next version", async () => {
  const before = world.contact.configVersion;
  await world.sql("DELETE FROM salesforce.contact");
  await lastNameWasShort();
  await world.sql("CREATE VIEW names AS SELECT lastname FROM salesforce.contact");

  await world.describeDaily();
  const once = await world.mappingOf();
  await world.describeDaily();
  await world.describeDaily();
  const after = await world.mappingOf();
  const narrow = await typeOfLastName();
  await world.sql("DROP VIEW names");
  await world.map({ object: "Contact", fields: ["Email", "LastName", "Title"] });

  expect(once.configVersion).toBe(before + 1);
  expect(after.configVersion).toBe(once.configVersion);
  expect(narrow).toBe("character varying(10)");
  expect(world.lastLine("columns_stay_narrow")).toMatchObject({ columns: [{ column: "lastname" }] });
  expect(world.log.filter(({ message }) => String(message).startsWith("narrower"))).toMatchObject([
    { level: "warn", mapping_id: world.contact.id, columns: ["lastname"] },
    { level: "warn" },
  ]);
  expect(await typeOfLastName()).toBe("character varying(80)");
});

test("a field that is gone from Salesforce breaks its own mapping, by name, and no other", async () => {
  await world.newEvents();
  await world.sql("ALTER TABLE salesforce.contact ADD COLUMN gone__c varchar(80)");
  await world.sql(
    `UPDATE salesforce._bridge_state SET shape = jsonb_set(shape, '{columns}', shape -> 'columns' ||
       jsonb_build_array((shape -> 'columns' -> 0) || '{"field": "Gone__c", "column": "gone__c"}')) WHERE mapping_id = $1`,
    [world.contact.id],
  );
  await world.rest("POST", "/sobjects/Account", { Name: "Continues" });

  await world.cycles(3);
  await world.cycles(1, await world.mappingOf("Account"));

  expect(await world.newEvents()).toMatchObject([
    {
      event: "sync.broken",
      detail: { mapping_id: world.contact.id, sf_object: "Contact", message: expect.stringContaining("Gone__c") },
    },
  ]);
  expect(await world.sql("SELECT name FROM salesforce.account")).toEqual([{ name: "Continues" }]);
});

test("a try that fails keeps its reason without the customer's words, and the minute sweep sends another one", async () => {
  await world.asSuperuser(`
    CREATE FUNCTION public.refuse() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'secret of the customer'; END $$;
    CREATE EVENT TRIGGER refuse ON ddl_command_start WHEN TAG IN ('CREATE TRIGGER') EXECUTE FUNCTION public.refuse()`);
  const account = await world.mappingOf("Account");
  const message = { workspace_id: account.workspaceId, mapping_id: account.id, import_id: null };
  const provision = (more: object = {}) =>
    provisionMapping(
      { ...provisioningServices(world.cloud.clock.now() + 300_000), log: world.services.log },
      { ...message, ...more },
    );

  await expect(provision({ anew: true })).rejects.toThrow("secret of the customer");

  const { provisioning } = await world.mappingOf("Account");
  const reason = expect.stringMatching(/^PostgreSQL refused \(SQLSTATE P0001\): .*; Bridge tries again every minute$/);
  expect(provisioning).toMatchObject({ reason });
  expect(JSON.stringify(provisioning)).not.toContain("secret of the customer");
  expect(world.log.at(-1)).toMatchObject({ level: "error", event: "provisioning", state: "pending", reason });

  await world.asSuperuser("DROP EVENT TRIGGER refuse");
  world.contact = account;
  expect((await askedAfter(3)).filter(({ describe }) => describe !== true)).toEqual([message]);
  await provision();

  expect(await world.mappingOf("Account")).toMatchObject({ provisioning: { state: "ready" } });
  expect(world.log.at(-1)).toMatchObject({ level: "info", event: "provisioning", state: "ready" });
});
