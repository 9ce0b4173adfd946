import type { ListHeldDeletesData, RejectDeletesData } from "bridge/api";
import { expect, test } from "vitest";
import type { RouteName } from "../../lib/http/routes.ts";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { askingIn } from "../support/clients/ask.ts";
import { auditedIn } from "../support/clients/audit-page.ts";
import type { Request } from "../support/clients/call.ts";
import { dataOf } from "../support/clients/data-of.ts";
import type { SyncWorld } from "../support/worlds/sync-world.ts";
import { tokenFor } from "../support/worlds/workspace.ts";
import { aWorldForEachTest, mapped } from "../support/worlds/worlds.ts";

let world: SyncWorld;
let contact: Mapping;
let token: string;
aWorldForEachTest(async (made) => {
  ({ world } = made);
  token = await tokenFor(world.workspaceId);
});

/** A mapping that lets no delete through, and its records. */
async function withRecords(names: readonly string[], more: Partial<Parameters<typeof mapped>[1]> = {}) {
  await world.createRecords(
    "Contact",
    names.map((LastName) => ({ LastName, External_Id__c: `K-${LastName}` })),
  );
  const fields = ["External_Id__c", "LastName"];
  contact = await mapped(world, { object: "Contact", fields, bridge: { delete_limit: "0" }, ...more });
}

const asking = askingIn(() => ({ id: world.workspaceId, token }));
const ask = (route: RouteName, more: Request = {}) => asking(route, { path: { mapping_id: contact.id }, ...more });

const reject = async (body: object = {}, query = {}) =>
  dataOf<RejectDeletesData>(await ask("reject-deletes", { body, query }));

/** All answers, call by call. */
async function rejectAll(recreate = false): Promise<readonly RejectDeletesData[]> {
  const answers: RejectDeletesData[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const answer: RejectDeletesData = await reject({ recreate, ...(after && { after }) });
    answers.push(answer);
    after = answer.next;
  }
  return answers;
}

const twoCycles = async () => {
  await world.cycle(contact);
  await world.cycle(contact);
};
const rows = () => world.sql("SELECT id, sfid, lastname, external_id__c FROM salesforce.contact ORDER BY id");
const held = async () => {
  const [counted] = await world.sql(
    `SELECT (SELECT count(*)::int FROM salesforce._trigger_log WHERE held) AS records,
       (SELECT count(*)::int FROM salesforce._bridge_held_deletes) AS rows`,
  );
  return counted;
};
const numbered = (count: number) => Array.from({ length: count }, (_, at) => `N${at}`);

/** Deletes records as another user, and lets the mapping notice it. */
async function deleteRecords(ids: readonly unknown[]): Promise<void> {
  for (let at = 0; at < ids.length; at += 200) {
    await world.colleague("DELETE", `/composite/sobjects?allOrNone=false&ids=${ids.slice(at, at + 200).join(",")}`);
  }
  await world.cycle(contact);
}

test("rows whose deletes are rejected come back under their keys with sfid and mapped columns, and nothing is sent", async () => {
  await withRecords(numbered(1_001));
  await world.sql(`ALTER TABLE salesforce.contact ADD COLUMN note text DEFAULT 'new', ADD COLUMN loud text GENERATED ALWAYS AS (upper(lastname)) STORED;
    ALTER TABLE salesforce.contact ALTER COLUMN id DROP DEFAULT, ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY;
    CREATE TABLE salesforce.pet (contact_id bigint REFERENCES salesforce.contact (id) ON DELETE SET NULL);
    CREATE TABLE salesforce.child (contact_id bigint REFERENCES salesforce.contact (id) ON DELETE CASCADE);
    UPDATE salesforce.contact SET note = 'lost'`);
  const before = await rows();
  await world.sql("DELETE FROM salesforce.contact");
  await world.cycle(contact);

  const forecast = await reject({}, { dry_run: "true" });
  const untouched = [await rows(), await held()];
  const answers = await rejectAll();
  const after = [await rows(), await held()];
  await twoCycles();

  const lost = { lost_columns: ["note"], lost_children: ["salesforce.child", "salesforce.pet"] };
  expect(forecast).toMatchObject({ rows: 1_001, records: 0, next: null, ...lost });
  expect(untouched).toEqual([[], { records: 1_001, rows: 0 }]);
  expect(answers.map(({ rows }) => rows)).toEqual([1_000, 1, 0]);
  expect(answers.flatMap(({ records, staying }) => [records, ...staying])).toEqual([0, 0, 0]);
  expect(after).toEqual([before, { records: 0, rows: 0 }]);
  expect(await rows()).toEqual(before);
  expect(await world.sql("SELECT DISTINCT note, _ab_lastop FROM salesforce.contact")).toEqual([
    { note: "new", _ab_lastop: "SYNCED" },
  ]);
  const ended = "SELECT DISTINCT action, state, left(sf_message, 8) AS said FROM salesforce._trigger_log";
  expect(await world.sql(ended)).toEqual([{ action: "DELETE", state: "SUCCESS", said: "REJECTED" }]);
  expect(await world.sql("SELECT FROM salesforce._bridge_inbound_errors")).toEqual([]);
  expect(await world.soql("SELECT count(Id) FROM Contact")).toMatchObject([{ expr0: 1_001 }]);
  expect((await auditedIn(world.workspaceId, "deletes.rejected", 10)).entries).toHaveLength(3);
});

test("records whose deletes are rejected are undeleted, and one that is gone for good is created again once asked for", async () => {
  await withRecords(["Gone", ...numbered(129)], { upsertField: "External_Id__c" });
  const before = await rows();
  const [gone, ...others] = before.map(({ sfid }) => sfid);
  await deleteRecords([gone]);
  await world.control("DELETE", "/recycle-bin");
  await deleteRecords(others);
  const all = await held();

  const answers = await rejectAll();
  const left = await held();
  const undeleted = await world.soql("SELECT Id FROM Contact");
  await world.cycle(contact);
  const between = [await rows(), await held()];
  const again = await rejectAll(true);
  await twoCycles();

  expect(all).toEqual({ records: 0, rows: 130 });
  expect(answers.map(({ records }) => records).reduce((sum, one) => sum + one)).toBe(129);
  expect(answers.flatMap(({ staying }) => staying)).toMatchObject([
    { deletes: "row", sfid: gone, reason: expect.stringMatching(/gone for good; it can be created again/) },
  ]);
  expect(undeleted.map(({ Id }) => Id).toSorted()).toEqual(others.toSorted());
  expect(left).toEqual({ records: 0, rows: 1 });
  expect(between).toEqual([before, { records: 0, rows: 1 }]);
  expect(again.at(-1)).toMatchObject({ recreated: 1, gone: 0, staying: [], next: null });
  const [record] = await world.soql("SELECT Id, External_Id__c FROM Contact WHERE LastName = 'Gone'");
  expect(record?.["External_Id__c"]).toBe("K-Gone");
  expect(record?.["Id"]).not.toBe(gone);
  expect(await rows()).toEqual(before.map((row) => (row["sfid"] === gone ? { ...row, sfid: record?.["Id"] } : row)));
  expect(await held()).toEqual({ records: 0, rows: 0 });
});

test("what a constraint refuses, what left the filter and what is gone without an upsert field stay held, each with its reason", async () => {
  await withRecords(["A", "B", "Gone", "In"], { bridge: { delete_limit: "0", filter: "LastName != 'Out'" } });
  const ids = new Map((await rows()).map(({ lastname, sfid }) => [lastname, sfid]));
  await world.sql("CREATE UNIQUE INDEX one_of_a_name ON salesforce.contact (lastname)");
  await world.sql("DELETE FROM salesforce.contact WHERE lastname IN ('A', 'B')");
  await deleteRecords([ids.get("Gone")]);
  await world.control("DELETE", "/recycle-bin");
  await world.colleague("PATCH", `/sobjects/Contact/${ids.get("In")}`, { LastName: "Out" });
  await world.cycle(contact);
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('B')");

  const answers = await rejectAll(true);

  expect(answers.flatMap((one) => [one.rows, one.records, one.recreated]).reduce((sum, one) => sum + one)).toBe(1);
  const reasons = answers.flatMap(({ staying }) => staying).map(({ reason }) => reason);
  for (const why of ["one_of_a_name", "upsert field", "filter"])
    expect(reasons.filter((reason) => reason.includes(why))).toHaveLength(1);
  expect((await rows()).map(({ lastname }) => lastname).toSorted()).toEqual(["A", "B", "Gone", "In"]);
  expect(await held()).toEqual({ records: 1, rows: 2 });
});

test("while the org refuses, nothing is undeleted and the deletes stay held", async () => {
  await withRecords(["A"]);
  await deleteRecords((await rows()).map(({ sfid }) => sfid));
  await world.fault({ kind: "unavailable", path: "services/Soap", times: 0 });

  const answer = await ask("reject-deletes", { body: { after: "record:" } });

  expect(answer.json?.error).toMatchObject({ code: "CONFLICT", message: expect.stringContaining("undeleted") });
  expect(await held()).toEqual({ records: 0, rows: 1 });
});

const listHeld = async () => dataOf<readonly ListHeldDeletesData[]>(await ask("list-held-deletes"));
const namesOf = (some: readonly ListHeldDeletesData[]) =>
  some.map(({ deletes, name }) => `${deletes} ${name}`).toSorted();

test("held deletes have names on both sides, and only those that were chosen go or come back; a choice that is none is refused", async () => {
  await withRecords(["Ada", "Grace", "Emmy", "Hedy"]);
  const ids = new Map((await rows()).map(({ lastname, sfid }) => [lastname, sfid]));
  await world.sql("DELETE FROM salesforce.contact WHERE lastname IN ('Ada', 'Grace')");
  await deleteRecords([ids.get("Emmy"), ids.get("Hedy")]);
  const before = await listHeld();
  const keyOf = (name: string) => before.find((one) => one.name === name)?.key ?? "";
  const chosen = (...names: readonly string[]) => ({ only: names.map(keyOf).join(",") });

  const confirm = (query: { readonly only: string }) => ask("confirm-deletes", { query });

  const choices = ["", "row", "row:1", "record:x", "record:1,", "table:contact"];
  const codes = await Promise.all(choices.map(async (only) => (await confirm({ only })).json?.error?.code));
  const all = await held();
  const forecast = await reject({}, { ...chosen("Ada", "Emmy"), dry_run: "true" });
  const back = [await reject({}, chosen("Ada", "Emmy")), await reject({ after: "record:" }, chosen("Ada", "Emmy"))];
  const left = await listHeld();
  const gone = await confirm(chosen("Grace"));
  await twoCycles();

  expect(namesOf(before)).toEqual(["record Ada", "record Grace", "row Emmy", "row Hedy"]);
  expect(codes).toEqual(choices.map(() => "VALIDATION_ERROR"));
  expect(all).toEqual({ records: 2, rows: 2 });
  expect(forecast).toMatchObject({ rows: 1, records: 1 });
  expect(back).toMatchObject([
    { rows: 1, records: 0 },
    { rows: 0, records: 1, next: null },
  ]);
  expect(namesOf(left)).toEqual(["record Grace", "row Hedy"]);
  expect(gone.json?.data).toMatchObject({ confirmed: 1, more: false });
  expect(namesOf(await listHeld())).toEqual(["row Hedy"]);
  expect((await rows()).map(({ lastname }) => lastname)).toEqual(["Ada", "Emmy", "Hedy"]);
  expect(await world.soql("SELECT LastName FROM Contact ORDER BY LastName")).toMatchObject([
    { LastName: "Ada" },
    { LastName: "Emmy" },
  ]);
  const detail = await ask("read-mapping");
  expect(detail.json?.data).toMatchObject({ held_deletes: 1, sent_deletes: 1 });
  const [entry] = (await auditedIn(world.workspaceId, "deletes.confirmed", 1)).entries;
  expect(entry?.detail).toMatchObject({ sfids: [], trigger_log_ids: [Number(keyOf("Grace").slice(7))] });
});
