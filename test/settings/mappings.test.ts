import type { CreateMappingData } from "bridge/api";
import { expect, test } from "vitest";
import { counters, mappings } from "../../functions/services/composition.ts";
import { eventIdOf } from "../../lib/webhooks/derived-id.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { anOrgForAllTests, cloud, openWorkspace } from "./org-of-workspaces.ts";

anOrgForAllTests();

const CONTACT = { sf_object: "contact", fields: ["lastname", "Email"], upsert_field: null };

const audited = async (workspace: Awaited<ReturnType<typeof openWorkspace>>) =>
  (await workspace.audited()).map(({ action }) => action).filter((action) => action.startsWith("mapping."));

test("a mapping is created in the org's own spelling, audited, announced, and handed to the workers", async () => {
  const workspace = await openWorkspace();
  await cloud.take("provisioning");
  await cloud.take("events");

  const answer = await workspace.create(CONTACT);

  expect(answer.json?.data).toMatchObject({
    ...{ sf_object: "Contact", pg_table: "contact", fields: ["Email", "LastName"], sync_direction: "bidirectional" },
    ...{ active: true, state: "provisioning", conflict_policy: "salesforce_wins" },
    ...{ sf_polling_seconds: 10, calls_per_day: 8640 + 3 },
  });
  expect(answer.headers["ETag"]).toBe('"1"');
  const { id } = dataOf<CreateMappingData>(answer);
  const { totals } = await counters().readAll(); // its series begin with 0
  expect(totals).toContainEqual(expect.objectContaining({ mappingId: id, rowsSynced: 0, rowsFailed: 0 }));
  expect(await audited(workspace)).toEqual(["mapping.created"]);
  expect(await cloud.take("provisioning")).toEqual([expect.objectContaining({ mapping_id: id, import_id: null })]);
  expect(await cloud.take("events")).toHaveLength(1);
  expect((await workspace.list()).map((mapping) => mapping.id)).toEqual([id]);
});

test.each([
  ["which sessions are captured", "capture", "always", ["sometimes"]],
  ["how many deletes an hour may bring", "delete_limit", "25%", ["101%", "-1", "", "many", 500]],
  ["how often both sides are compared", "sweep_days", 7, [0, 31, 1.5, "7", null]],
  ["how often a quiet mapping is asked about", "when_quiet_seconds", 600, [0, 9, 10.5, 86_401, "60"]],
  ["how many records one call saves", "batch_size", 50, [0, 201, 1.5, "50"]],
])("%s is a setting that is exported, imported and refused where it is wrong", async (_, name, value, wrong) => {
  const [workspace, other] = [await openWorkspace(), await openWorkspace()];
  const { id } = await workspace.created(CONTACT);

  const changed = await workspace.update(id, { [name]: value });
  const exported = (await workspace.export()).json?.data as object;
  await other.import(exported);
  const refused = await Promise.all(wrong.map((bad) => workspace.update(id, { [name]: bad })));

  expect(changed.json?.data).toMatchObject({ [name]: value, state: "provisioning", version: '"2"' });
  expect(exported).toMatchObject({ mappings: [{ config: { bridge: { [name]: value } } }] });
  expect((await other.export()).json?.data).toEqual(exported);
  for (const { json } of refused)
    expect(json?.error).toMatchObject({ code: "VALIDATION_ERROR", details: [{ path: `body.${name}` }] });
  expect((await workspace.export()).json?.data).toEqual(exported);
});

test.each([
  ["an object that the org does not have", { sf_object: "Nothing__c" }, "body.sf_object"],
  ["a compound field", { fields: ["MailingAddress"] }, "body.fields.MailingAddress"],
  ["an upsert field that is none of the fields", { upsert_field: "Phone" }, "body.upsert_field"],
  ["a name that would be SQL", { pg_table: 'x"; drop table y; --' }, "body.pg_table"],
  ["one field in two spellings", { fields: ["Email", "EMAIL"] }, "body.fields"],
  ["a filter by a field that cannot be filtered by", { filter: "Description = 'a'" }, "body.filter"],
  ["a filter that compares a time with a text", { filter: "CreatedDate > '2026-01-01'" }, "body.filter"],
  ["a setting that there is not", { interval: 10 }, "body"],
])("%s is refused with its place, and nothing is created", async (_, wrong, path) => {
  const workspace = await openWorkspace();

  const refused = await workspace.create({ ...CONTACT, ...wrong });

  expect(refused.status).toBe(400);
  expect(refused.json?.error?.details?.map((detail) => detail.path)).toContain(path);
  expect(await workspace.list()).toEqual([]);
});

test("an object or a table has one mapping: the second is refused with CONFLICT", async () => {
  const workspace = await openWorkspace();
  await workspace.create(CONTACT);

  const sameObject = await workspace.create({ ...CONTACT, sf_object: "CONTACT", pg_table: "people" });
  const sameTable = await workspace.create({ sf_object: "Account", fields: ["Name"], pg_table: "contact" });

  expect([sameObject.status, sameTable.status]).toEqual([409, 409]);
  const details = [{ path: "body.pg_table", message: "is the table of the mapping of Contact" }];
  expect(sameTable.json?.error?.details).toEqual(details);
});

test("a change names what it changes, and everything else stays; a filter is changed, refused with its place and the remedy, and removed", async () => {
  const workspace = await openWorkspace();
  const [fields, upsert_field] = [["Email", "External_Id__c", "LastName"], "External_Id__c"];
  const filter = "Department = 'R&D'";
  const asTyped = { fields: ["email", "external_id__C", "LASTNAME"], upsert_field: "EXTERNAL_ID__c" };
  const made = await workspace.create({ ...CONTACT, ...asTyped, sf_polling_seconds: 60, filter });
  const { id } = dataOf<CreateMappingData>(made);

  const changed = await workspace.update(id, { fields: [...fields, "Phone"] });
  const same = await workspace.update(id, { sf_polling_seconds: 60 });
  const refused = await workspace.update(id, { filter: "Department = R&D" });
  const unknown = await workspace.update(id, { filter: "Departmant = 'R&D'" });
  const filtered = await workspace.update(id, { filter: "Department IN ('R&D', 'IT')" });
  const cleared = await workspace.update(id, { filter: null });

  expect(made.json?.data).toMatchObject({ filter, version: '"1"' });
  const stayed = { upsert_field, sf_polling_seconds: 60, filter };
  expect(changed.json?.data).toMatchObject({ fields: [...fields, "Phone"], ...stayed });
  expect([changed, same].map(({ headers }) => headers["ETag"])).toEqual(['"2"', '"2"']);
  expect([refused.status, unknown.status]).toEqual([400, 400]);
  expect(refused.json?.error?.message).toBe(
    `body.filter: the filter is not understood: at character 14 it says "R&D", but a value: 'text', a number, a date, TRUE, FALSE, NULL is expected there`,
  );
  expect(unknown.json?.error?.message).toContain("there is no field Departmant");
  expect(filtered.json?.data).toMatchObject({ filter: "Department IN ('R&D', 'IT')", version: '"3"' });
  expect(cleared.json?.data).toMatchObject({ filter: null, version: '"4"' });
  expect(await audited(workspace)).toEqual([...Array(3).fill("mapping.updated"), "mapping.created"]);
  const changes = (await workspace.audited()).map(({ detail }) => detail["changed"]);
  expect(changes.slice(0, 3)).toEqual([["filter"], ["filter"], ["fields"]]);
  const unkeyed = await workspace.update(id, { upsert_field: null });
  expect([cleared, unkeyed].map((one) => dataOf<CreateMappingData>(one).upsert_field)).toEqual([upsert_field, null]);
});

async function failed(workspaceId: string, id: string): Promise<void> {
  const version = (await mappings().find(workspaceId, id))?.configVersion ?? 0;
  await mappings().setProvisioning(workspaceId, id, version, { state: "failed", version, reason: "it is a view" });
}

test("a mapping whose table could not be created is tried again by saving it as it is, or by importing it", async () => {
  const workspace = await openWorkspace();
  const { id } = await workspace.created(CONTACT);
  const document = (await workspace.export()).json;
  await failed(workspace.id, id);
  const again = await workspace.updated(id, { fields: ["LastName", "Email"] });
  await failed(workspace.id, id);

  const imported = await workspace.import(document ?? {});
  const unchanged = await workspace.import(document ?? {});

  expect(again).toMatchObject({ state: "provisioning", version: '"2"' });
  expect(imported.json?.data).toEqual({ created: 0, updated: 1, skipped: 0 });
  expect(unchanged.json?.data).toEqual({ created: 0, updated: 0, skipped: 1 });
});

test("a change, an import or a switch that was meant for another version is refused, so that no work is lost unseen", async () => {
  const workspace = await openWorkspace();
  const { id, version } = await workspace.created(CONTACT);
  const exported = await workspace.export();
  const document = dataOf<object>(exported);
  const headers = { "If-Match": exported.headers["ETag"] ?? "" };
  expect((await workspace.import(document, { headers })).json?.data).toEqual({ created: 0, updated: 0, skipped: 1 });
  await workspace.update(id, { sf_polling_seconds: 30 });

  const late = await workspace.update(id, { sf_polling_seconds: 60 }, { "If-Match": version });
  const again = await workspace.update(id, { sf_polling_seconds: 60 }, { "If-Match": '"1", W/"2"' });

  expect([late.status, late.json?.error?.code]).toEqual([412, "PRECONDITION_FAILED"]);
  expect(again.status).toBe(200);
  expect((await workspace.import(document, { headers })).status).toBe(412);
  expect((await workspace.import(document, { headers, query: { dry_run: "true" } })).status).toBe(412);

  const old = { "If-Match": version };
  const states = async () => (await workspace.list()).map(({ active }) => active);

  const refused = [await workspace.deactivate(id, old), await workspace.delete(id, old)];
  const stayed = await states();
  const paused = await workspace.deactivate(id, { "If-Match": '"3"' });
  refused.push(await workspace.activate(id, old));
  const isPaused = await states();
  await workspace.delete(id);
  refused.push(await workspace.restore(id, old));

  expect(refused.map(({ status }) => status)).toEqual([412, 412, 412, 412]);
  expect([stayed, paused.status, isPaused, await states()]).toEqual([[true], 200, [], []]);
});

test("a mapping is paused, resumed, deleted and restored; doing a thing twice changes nothing", async () => {
  const workspace = await openWorkspace();
  await cloud.take("events");
  const { id } = await workspace.created(CONTACT);

  expect(dataOf<CreateMappingData>(await workspace.deactivate(id)).state).toBe("paused");
  expect(dataOf<CreateMappingData>(await workspace.deactivate(id)).version).toBe('"2"');
  expect(dataOf<CreateMappingData>(await workspace.activate(id)).state).toBe("provisioning");
  expect(dataOf<CreateMappingData>(await workspace.delete(id)).state).toBe("deleted");
  expect((await workspace.activate(id)).json).toMatchObject({ error: { code: "MAPPING_NOT_FOUND" } });
  expect(await workspace.list()).toEqual([]);
  expect(dataOf<CreateMappingData>(await workspace.restore(id)).state).toBe("paused");

  const done = ["restored", "deleted", "activated", "deactivated", "created"];
  expect(await audited(workspace)).toEqual(done.map((did) => `mapping.${did}`));
  const announced = (await cloud.take("events")) as readonly { readonly event_id: string }[];
  const events = ["mapping.activated", "mapping.deactivated", "mapping.activated", "mapping.deactivated"] as const;
  expect(announced.map(({ event_id }) => event_id)).toEqual(events.map((event, at) => eventIdOf(event, id, at + 1)));

  await workspace.delete(id);
  expect((await workspace.create(CONTACT)).status, "a deleted mapping's object is free").toBe(200);
  expect((await workspace.restore(id)).status).toBe(409);
});

test("of two who change a mapping at once, both changes happen, one after the other", async () => {
  const workspace = await openWorkspace();
  const { id } = await workspace.created(CONTACT);

  const changes = await Promise.all([
    workspace.update(id, { sf_polling_seconds: 30 }),
    workspace.update(id, { conflict_policy: "latest_wins" }),
    workspace.deactivate(id),
  ]);

  expect(changes.map(({ status }) => status)).toEqual([200, 200, 200]);
  const both = { sf_polling_seconds: 30, conflict_policy: "latest_wins", version: '"5"' };
  expect(dataOf(await workspace.activate(id))).toMatchObject(both);
});
