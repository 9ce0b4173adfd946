import type {
  ListErrorsData,
  ListFailuresData,
  ListHeldDeletesData,
  ReadMappingData,
  ReadThroughputData,
  TestPostgresData,
} from "bridge/api";
import { expect, test } from "vitest";
import { mappings } from "../../functions/services/composition.ts";
import type { RouteName } from "../../lib/http/routes.ts";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { askingIn } from "../support/clients/ask.ts";
import { auditPage } from "../support/clients/audit-page.ts";
import type { Request } from "../support/clients/call.ts";
import { dataOf } from "../support/clients/data-of.ts";
import type { BridgeCloud } from "../support/worlds/bridge-cloud.ts";
import type { SyncWorld } from "../support/worlds/sync-world.ts";
import { tokenFor } from "../support/worlds/workspace.ts";
import { aWorldForEachTest, mapped } from "../support/worlds/worlds.ts";

let cloud: BridgeCloud;
let world: SyncWorld;
let token: string;
aWorldForEachTest(async (at) => {
  ({ cloud, world } = at);
  token = await tokenFor(world.workspaceId);
});

const ask = askingIn(() => ({ id: world.workspaceId, token }));
const on = ({ id }: Mapping, route: RouteName) => ask(route, { path: { mapping_id: id } });
const rowsOf = async <Row>(route: RouteName, request?: Request) => dataOf<readonly Row[]>(await ask(route, request));
const view = async (mapping: Mapping) => dataOf<ReadMappingData>(await on(mapping, "read-mapping"));
const throughput = async (query = {}) => dataOf<ReadThroughputData>(await ask("read-throughput", { query }));
const failed = async () => (await rowsOf<ReadMappingData>("list-mapping-states"))[0]?.failed;

const CONTACT = { object: "Contact", fields: ["LastName", "Email"] };

/** A mapping of which Salesforce has refused two rows for their address, and one for its missing name. */
async function mappedWithRefusals(): Promise<Mapping> {
  const mapping = await mapped(world, CONTACT);
  await world.sql(
    "INSERT INTO salesforce.contact (lastname, email) VALUES ('Ada', 'no address'), ('Grace', 'call me'), (NULL, NULL)",
  );
  await world.cycle(mapping);
  return mapping;
}

test("a mapping's view says what it does: rows synced, waiting and failed, its lag and its calls", async () => {
  const mapping = await mapped(world, CONTACT);
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Lovelace')");
  await world.cycle(mapping);
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Hopper')");

  const detail = await view(mapping);
  const [listed] = await rowsOf<ReadMappingData>("list-mapping-states");

  const expected = { id: mapping.id, state: "running", rows_synced: 1, waiting: 1, failed: 0, reason: null };
  const lag_seconds = { p50: expect.any(Number), p95: expect.any(Number) };
  expect(detail).toMatchObject({ ...expected, progress: null, lag_seconds });
  expect(detail.api_calls["SOAP"]).toBe(1);
  expect(listed).toMatchObject(expected);
  const budget = await ask("read-budget");
  expect(budget.json?.data).toMatchObject({ calls_limit: 15_000, forecast_calls_per_day: 8643, pace: "normal" });
});

test("the results of changes over the last minutes are listed by mapping and step, with the lag, the oldest that waits and how cycles ended", async () => {
  const contact = await mapped(world, CONTACT);
  const nothing = await throughput();
  const refused = await ask("read-throughput", { query: { minutes: "soon" } });
  await world.sql("INSERT INTO salesforce.contact (lastname, email) VALUES ('A', NULL), ('B', NULL), ('C', 'wrong')");
  await world.cycle(contact);
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('D')");

  const shown = await throughput({ minutes: "1440" });
  const [listed] = await rowsOf<ReadMappingData>("list-mapping-states");
  const [waiting] = await world.sql("SELECT created_at FROM salesforce._trigger_log WHERE state = 'NEW'");

  const counts = { accepted: 2, refused: 1, pulled: 0 };
  const step = { at: expect.stringMatching(/Z$/), ...counts, cycles: { well: 1, failed: 0, stopped: 0 } };
  const lag_seconds = { p50: expect.any(Number), p95: expect.any(Number) };
  expect(shown).toMatchObject({ step_seconds: 1440 });
  expect(new Date(shown.from).getTime()).toBeGreaterThanOrEqual(new Date(shown.to).getTime() - 86_400_000);
  expect(shown.mappings).toEqual([
    { mapping_id: contact.id, sf_object: "Contact", ...counts, lag_seconds, steps: [step] },
  ]);
  expect(new Date(listed?.oldest_waiting_at ?? 0)).toEqual(waiting?.["created_at"]);
  expect(nothing.mappings).toMatchObject([{ accepted: 0, refused: 0, lag_seconds: null, steps: [] }]);
  expect(refused.json?.error?.details).toEqual([{ path: "minutes", message: expect.stringContaining("whole number") }]);

  await world.pass(60);
  await world.createRecords("Contact", [{ LastName: "A" }, { LastName: "B" }, { LastName: "C" }]);
  await world.cycle(contact);
  await world.pass(60);
  await world.fault({ kind: "unavailable", times: 0 });
  await world.cycle(contact);

  const [later] = (await throughput()).mappings;
  expect(later).toMatchObject({ pulled: 3, accepted: 3 });
  const [well, failed] = later?.steps.slice(-2) ?? [];
  expect(well).toMatchObject({ pulled: 3, accepted: 1, cycles: { well: 1, failed: 0, stopped: 0 } });
  expect(failed).toMatchObject({ pulled: 0, cycles: { well: 0, failed: 1, stopped: 0 } });
  expect(Date.parse(failed?.at ?? "") - Date.parse(well?.at ?? "")).toBeGreaterThanOrEqual(60_000);
});

test("one change shows its story: before and after, when it was sent, what Salesforce said, how often it was tried", async () => {
  const contact = await mapped(world, CONTACT);
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Lovelace')");
  await world.cycle(contact);
  await world.sql("UPDATE salesforce.contact SET email = 'nowhere'");
  await world.cycle(contact);
  const [{ id } = { id: 0 }] = await rowsOf<ListErrorsData>("list-errors");

  const read = (change_id: string) => ask("read-change", { path: { change_id } });
  const at = expect.stringMatching(/Z$/);
  expect((await read(String(id))).json?.data).toMatchObject({
    ...{ id, table_name: "contact", record_id: 1, sfid: expect.stringMatching(/^003/), action: "UPDATE" },
    ...{ state: "FAILED", _ab_err: expect.stringContaining("INVALID_EMAIL_ADDRESS"), held: false, superseded: false },
    ...{ old: { email: null }, values: { email: "nowhere" }, sent_at: at, synced_at: at },
  });
  expect([(await read("999999")).status, (await read("1;DROP")).status]).toEqual([404, 404]);
  expect(await failed()).toBe(1);
  await world.pass(60);
  const [row] = await world.sql("SELECT sfid FROM salesforce.contact");
  await world.rest("PATCH", `/sobjects/Contact/${row?.["sfid"]}`, { Email: "ada@example.com" });
  await world.cycle(contact);
  expect(await failed(), "Salesforce has overruled it since").toBe(0);
});

test("failed rows are reported by kind, with key, name and bad value, and tried again one by one or a kind at once", async () => {
  const mapping = await mappedWithRefusals();

  const kinds = await rowsOf<ListFailuresData[number]>("list-failures");
  const query = { fingerprint: kinds[0]?.fingerprint ?? "" };
  const opened = await ask("list-failures", { query });
  const readOnly = await ask("list-failures", { query, token: await tokenFor(world.workspaceId, "read") });
  expect(kinds.map(({ count }) => count)).toEqual([2, 1]);
  expect(kinds[0]?.sample).toContain("INVALID_EMAIL_ADDRESS");
  const rows = [
    { record_id: 2, name: "Grace", values: { email: "call me" }, error: expect.stringContaining("INVALID_EMAIL") },
    { record_id: 1, name: "Ada", values: { email: "no address" } },
  ];
  expect(opened.json?.data).toMatchObject([{ count: 2, rows }]);
  const unseen = rows.map(({ record_id }) => ({ record_id, name: null, values: null }));
  expect(readOnly.json?.data).toMatchObject([{ rows: unseen }]);

  // What an administrator of the org might do by loosening a rule.
  const [right] = await world.sql(
    `UPDATE salesforce._trigger_log SET attempts = 5, "values" = jsonb_set("values", '{email}', '"a@example.com"')
     WHERE "values" ->> 'lastname' = 'Ada' RETURNING id::text`,
  );
  const retryOne = (row_id: unknown) => ask("retry-row", { path: { row_id: String(row_id) } });
  const one = await retryOne(right?.["id"]);
  const again = await retryOne(right?.["id"]);
  const afresh = await ask("read-change", { path: { change_id: String(right?.["id"]) } });
  const ofAnother = await ask("retry-rows", { body: { table: "account" } });
  const kind = await ask("retry-rows", { body: query });
  const left = await failed();
  await world.sql("UPDATE salesforce._trigger_log SET sf_message = 'IN_DOUBT: it may be there' WHERE record_id = 3");
  const inDoubt = [await ask("retry-rows", { body: { table: "contact" } }), await ask("retry-rows", { body: {} })];
  await world.cycle(mapping);

  expect([one, again, kind].map(({ json }) => json?.data)).toEqual([
    { retried: 1, remaining: 0 },
    { retried: 0, remaining: 0 },
    { retried: 1, remaining: 0 },
  ]);
  expect(afresh.json?.data).toMatchObject({ state: "NEW", attempts: 0 });
  for (const { json } of [ofAnother, ...inDoubt]) expect(json?.data).toEqual({ retried: 0, remaining: 0 });
  expect([left, await failed()]).toEqual([1, 2]);
  expect(await world.sql("SELECT lastname, _ab_lastop FROM salesforce.contact WHERE sfid IS NOT NULL")).toEqual([
    { lastname: "Ada", _ab_lastop: "INSERTED" },
  ]);
  expect((await retryOne("1; DROP TABLE x")).status).toBe(404);
});

test("dismissed failures count no longer, and what was corrected later is sent whole, with what was dismissed", async () => {
  const mapping = await mappedWithRefusals();
  const [kind] = await rowsOf<ListFailuresData[number]>("list-failures");
  const query = { fingerprint: kind?.fingerprint ?? "" };
  const [opened] = await rowsOf<ListFailuresData[number]>("list-failures", { query });

  const before = await failed();
  const dismissed = await ask("dismiss-rows", { body: { id: opened?.rows?.[0]?.id } });
  const after = [await failed(), (await ask("list-failures", { query })).json?.data];
  const ofAnother = await ask("dismiss-rows", { body: { table: "account" } });
  const rest = await ask("dismiss-rows", { body: query });
  const errors = await rowsOf<ListErrorsData>("list-errors");
  const left = await failed();
  await world.sql("UPDATE salesforce.contact SET email = 'ada@example.com' WHERE lastname = 'Ada'");
  await world.cycle(mapping);

  expect([before, left, ofAnother.json?.data]).toEqual([3, 1, { dismissed: 0, remaining: 0 }]);
  expect(after).toMatchObject([2, [{ count: 1, rows: [{ name: "Ada" }] }]]);
  for (const { json } of [dismissed, rest]) expect(json?.data).toEqual({ dismissed: 1, remaining: 0 });
  expect(errors.map(({ _ab_err }) => _ab_err?.endsWith(" (dismissed)"))).toEqual([false, true, true]);
  expect(await world.soql("SELECT LastName, Email FROM Contact")).toMatchObject([
    { LastName: "Ada", Email: "ada@example.com" },
  ]);
  expect((await ask("list-errors")).json?.meta?.total).toBe(2);
});

test("a record that cannot become a row is reported with the reason, and becomes one once its table takes it", async () => {
  const mapping = await mapped(world, CONTACT);
  await world.sql("ALTER TABLE salesforce.contact ADD CONSTRAINT decent CHECK (lastname <> 'Evil')");
  await world.rest("POST", "/sobjects/Contact", { LastName: "Evil" });
  await world.cycle(mapping);

  const shown = await ask("list-inbound-errors", { query: { mapping_id: mapping.id } });

  expect(shown.json?.meta).toEqual({ total: 1, limit: 50, offset: 0 });
  expect(shown.json?.data).toMatchObject([{ sf_object: "Contact", error: expect.stringContaining("decent") }]);

  await world.pass(600);
  await world.cycle(mapping);
  await world.sql("ALTER TABLE salesforce.contact DROP CONSTRAINT decent");
  await world.pass(10);
  await world.cycle(mapping);
  const path = { mapping_id: mapping.id };
  const none = await ask("retry-inbound", { path, query: { sfid: "003000000000000AAA" } });
  const stays = await world.sql("SELECT lastname FROM salesforce.contact");
  const retried = await ask("retry-inbound", { path });
  await world.cycle(mapping);

  expect([none.json?.data, retried.json?.data]).toMatchObject([{ retried: 0 }, { retried: 1 }]);
  expect(stays).toEqual([]);
  expect(await world.sql("SELECT lastname FROM salesforce.contact")).toEqual([{ lastname: "Evil" }]);
});

test("a field that changed on both sides is reported with both values, times and the winner, which can be reversed", async () => {
  const mapping = await mapped(world, CONTACT);
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Base')");
  await world.cycle(mapping);
  const [row] = await world.sql("SELECT sfid FROM salesforce.contact");
  await world.cycle(mapping);
  await world.pass(5);
  await world.rest("PATCH", `/sobjects/Contact/${row?.["sfid"]}`, { LastName: "Theirs" });
  await world.sql("UPDATE salesforce.contact SET lastname = 'Ours'");
  await world.cycle(mapping);

  const shown = await ask("list-conflicts");
  const readOnly = await ask("list-conflicts", { token: await tokenFor(world.workspaceId, "read") });

  const sides = { base: "Base", postgres: "Ours", salesforce: "Theirs", winner: "salesforce" };
  const at = expect.stringMatching(/^2026-/);
  expect(shown.json?.data).toMatchObject([
    { sf_object: "Contact", field: "lastname", ...sides, postgres_at: at, salesforce_at: at },
  ]);
  const unseen = { field: "lastname", base: null, postgres: null, salesforce: null, winner: "salesforce" };
  expect(readOnly.json?.data).toMatchObject([unseen]);
  const [{ id } = { id: 0 }] = dataOf<readonly { id: number }[]>(shown);
  const turn = () => ask("use-other-value", { path: { conflict_id: String(id) } });
  await world.sql("ALTER TABLE salesforce.contact ADD CONSTRAINT theirs CHECK (lastname = 'Theirs')");
  const refused = await turn();
  await world.sql("ALTER TABLE salesforce.contact DROP CONSTRAINT theirs");

  const turned = await turn();
  await world.cycle(mapping);
  const again = await turn();

  expect(refused.json?.error).toMatchObject({ code: "CONFLICT", message: expect.stringContaining("theirs") });
  expect(turned.status).toBe(200);
  expect(await world.soql("SELECT LastName FROM Contact")).toMatchObject([{ LastName: "Ours" }]);
  expect(again.json?.error).toMatchObject({ code: "CONFLICT" });
  expect(await world.sql("SELECT lastname FROM salesforce.contact")).toEqual([{ lastname: "Ours" }]);
  await world.sql("UPDATE salesforce._bridge_conflicts SET salesforce = NULL"); // it won by clearing the field
  await world.sql("UPDATE salesforce.contact SET lastname = NULL");
  expect((await turn()).status).toBe(200);
});

test("rows of an adopted table are not sent until a user asks", async () => {
  await world.sql("CREATE SCHEMA IF NOT EXISTS salesforce");
  await world.sql("CREATE TABLE salesforce.account (id serial PRIMARY KEY, name varchar(255))");
  await world.sql("INSERT INTO salesforce.account (name) VALUES ('Acme'), ('Globex')");
  const mapping = await mapped(world, { object: "Account", fields: ["Name"] });
  await world.cycle(mapping);
  expect(await world.soql("SELECT Name FROM Account")).toEqual([]);

  const pushed = await on(mapping, "push-existing");
  await world.cycle(mapping);

  expect(pushed.json?.data).toEqual({ queued: 2, more: false, mapping_id: mapping.id });
  expect(await world.soql("SELECT Name FROM Account ORDER BY Name")).toEqual([{ Name: "Acme" }, { Name: "Globex" }]);
  expect((await on(mapping, "push-existing")).json?.data).toMatchObject({ queued: 0 });
});

test("deletes that the breaker holds on either side are reported, and go when they are confirmed", async () => {
  const mapping = await mapped(world, CONTACT);
  await world.createRecords(
    "Contact",
    Array.from({ length: 120 }, (_, at) => ({ LastName: `Contact ${at}` })),
  );
  await world.cycle(mapping);
  await world.sql("DELETE FROM salesforce.contact");
  await world.cycle(mapping);
  const sfid = "003000000000001AAA";
  await world.sql(
    "INSERT INTO salesforce._bridge_held_deletes (mapping_id, sfid, held_at, stamp, read_at) VALUES ($1, $2, now(), now(), now())",
    [mapping.id, sfid],
  );

  const held = await ask("list-held-deletes", { path: { mapping_id: mapping.id }, query: { limit: "200" } });
  const detail = await view(mapping);
  const confirmed = await on(mapping, "confirm-deletes");

  // The breaker lets a hundred go within the hour.
  expect(held.json?.meta?.total).toBe(21);
  const deletes = dataOf<readonly ListHeldDeletesData[]>(held);
  expect(deletes.filter((one) => one.deletes === "row")).toMatchObject([{ sfid, record_id: null }]);
  expect(new Set(deletes.map((one) => one.sfid)).size).toBe(21);
  const reason = expect.stringMatching(/^21 deletes of Contact are held.* bridge mapping held-deletes Contact/);
  expect(detail).toMatchObject({ held_deletes: 21, state: "deletes_held", failure: null, reason });
  expect(confirmed.json?.data).toEqual({ confirmed: 21, more: false, mapping_id: mapping.id });
  expect(await view(mapping)).toMatchObject({ held_deletes: 0, state: "running", reason: null });
  expect(dataOf(await on(mapping, "list-held-deletes"))).toEqual([]);
});

test("a deleted mapping captures nothing more and keeps its rows; restored, it continues where the org is", async () => {
  await world.rest("POST", "/sobjects/Contact", { LastName: "Lovelace" });
  const mapping = await mapped(world, CONTACT);
  await on(mapping, "delete-mapping");
  await world.map();
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Local')");

  expect(await world.sql("SELECT FROM salesforce.contact")).toHaveLength(2);
  expect(await world.sql("SELECT FROM salesforce._trigger_log")).toEqual([]);
  const deleted = await ask("list-mapping-states", { query: { deleted: "true" } });
  expect(deleted.json?.data).toMatchObject([{ id: mapping.id, state: "deleted" }]);

  await world.rest("POST", "/sobjects/Contact", { LastName: "Hopper" });
  await on(mapping, "restore-mapping");
  await on(mapping, "activate-mapping");
  await world.map();
  await world.cycle(mapping);

  expect(await world.sql("SELECT lastname FROM salesforce.contact ORDER BY lastname")).toEqual([
    { lastname: "Hopper" },
    { lastname: "Local" },
    { lastname: "Lovelace" },
  ]);
});

test("the doctor finds triggers, columns and tables that were removed, and activating makes them again", async () => {
  const mapping = await mapped(world, CONTACT);
  await world.map({ object: "Account", fields: ["Name"] });
  const findings = async () => {
    const { findings } = dataOf<TestPostgresData>(await ask("test-postgres"));
    return findings.filter(({ ok }) => !ok).map(({ message }) => message);
  };
  expect(await findings()).toEqual([]);

  await world.sql("ALTER TABLE salesforce.contact DISABLE TRIGGER _bridge_insert");
  await world.sql("DROP TABLE salesforce.account CASCADE");
  await world.sql("ALTER TABLE salesforce.contact DROP COLUMN email");
  expect(await findings()).toEqual(["table account is gone", "column email of table contact is gone"]);
  await world.sql("ALTER TABLE salesforce.contact ADD COLUMN email varchar(80)");
  expect(await findings()).toEqual([
    "table account is gone",
    "changes of table contact are not captured: triggers are missing or not enabled as the mapping asks (_bridge_insert)",
  ]);
  await world.sql("ALTER TABLE salesforce.contact DROP COLUMN email");

  await on(mapping, "deactivate-mapping");
  await on(mapping, "activate-mapping");
  await world.map();
  expect(await findings()).toEqual(["table account is gone"]);
});

test("a first load shows how far it is, of how many records, and a reload brings back the rows of a table that was emptied", async () => {
  const records = Array.from({ length: 2_100 }, (_, at) => ({ LastName: `Contact ${at}` }));
  await world.createRecords("Contact", records);
  await world.fault({ kind: "unavailable", path: "Id%20%3E|Id\\+%3E|Id%20>", nth: 1 });

  await expect(mapped(world, CONTACT)).rejects.toThrow();
  const [mapping] = await world.mappings();
  if (!mapping) throw new Error("nothing was mapped");

  const ends_at = expect.any(String);
  const progress = { reading: "load", rows_done: 2_000, rows_total: 2_100, ends_at };
  expect(await view(mapping)).toMatchObject({ state: "loading", progress });
  await world.work(mapping, "load");
  expect(await view(mapping)).toMatchObject({ state: "running", progress: null });

  const position = async () =>
    Number((await world.sql("SELECT position FROM salesforce._bridge_state"))[0]?.["position"]);
  const before = await position();
  await world.sql("TRUNCATE salesforce.contact");
  const answer = await on(mapping, "reload-mapping");
  const reading = { reading: "backfill", rows_done: 0, rows_total: null, ends_at: null };
  expect(await view(mapping)).toMatchObject({ state: "running", progress: reading });
  await world.rest("POST", "/sobjects/Contact", { LastName: "Hamilton" });
  await world.cycle(mapping);
  const pulled = [await world.sql("SELECT lastname FROM salesforce.contact"), await position()];
  await world.map();

  expect(answer.json?.data).toEqual({ reloading: true, mapping_id: mapping.id });
  expect(pulled).toEqual([expect.arrayContaining([{ lastname: "Hamilton" }]), await position()]);
  expect(await position()).toBeGreaterThanOrEqual(before);
  expect(await world.sql("SELECT FROM salesforce.contact")).toHaveLength(2_101);
  expect(await view(mapping)).toMatchObject({ state: "running", progress: null });
});

test("what cannot be done is refused with the reason, and what then fails was in the audit log before", async () => {
  const mapping = await mapped(world, { ...CONTACT, bridge: { sync_direction: "pg_to_sf" } });
  const { workspaceId, id, configVersion: version } = mapping;
  await world.rest("POST", "/sobjects/Contact", { LastName: "Not asked for" });

  const reloaded = await on(mapping, "reload-mapping");
  await world.work(mapping, "load");
  const pulled = await world.sql("SELECT lastname FROM salesforce.contact");
  const reason = "salesforce.contact is a view; map a plain table instead";
  await mappings().setProvisioning(workspaceId, id, version, { state: "failed", version, reason });
  const polled = await on(mapping, "poll-now");
  await world.databaseGoesAway();
  const confirmed = await on(mapping, "confirm-deletes");
  await world.databaseComesBack();

  expect(reloaded.json?.error).toMatchObject({ code: "CONFLICT", message: expect.stringContaining("sync_direction") });
  expect(pulled).toEqual([]);
  expect(polled.json?.data).toMatchObject({ triggered: false, message: expect.stringContaining(reason) });
  expect(await cloud.take("cycles")).not.toContainEqual(expect.objectContaining({ mapping_id: id, kind: "poll" }));
  expect(confirmed.status).toBe(500);
  const { entries } = await auditPage(
    { workspaceId, actor: null, action: "deletes.confirmed" },
    { limit: 10, offset: 0 },
  );
  expect(entries).toMatchObject([{ actor: "ada@example.com", resourceId: id }]);
});
