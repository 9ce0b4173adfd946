import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { expect, test, vi } from "vitest";
import { auditLog, database, now } from "../../../functions/services/composition.ts";
import { auditLog as auditLogIn } from "../../../lib/adapters/dynamodb/audit.ts";
import { commit } from "../../../lib/adapters/dynamodb/commit.ts";
import { newId } from "../../../lib/model/id.ts";
import { keptDaysIn } from "../../../lib/model/resources.ts";
import type { AuditAction, AuditEntry } from "../../../lib/model/workspace/audit.ts";
import { auditPage } from "../../support/clients/audit-page.ts";
import { aCloud, cloud } from "../cloud.ts";

aCloud();
const entry = (workspaceId: string, resourceId: string, more: Partial<AuditEntry> = {}): AuditEntry => ({
  ...{ id: newId("aud"), workspaceId, actor: "a", action: "token.created", resourceId, detail: {}, createdAt: now() },
  ...more,
});
const all = (workspaceId: string) => ({ workspaceId, actor: null, action: null });
const pageOf = (workspaceId: string, limit = 50, offset = 0) => auditPage(all(workspaceId), { limit, offset });

test("entries of many writers at once are all kept, each under a number of its own", async () => {
  const workspaceId = newId("ws");
  const writers = Array.from({ length: 10 }, (_, at) => entry(workspaceId, `r${at}`));

  await Promise.all(writers.map((one) => auditLog().append(one)));

  const { entries, total } = await pageOf(workspaceId);
  expect([total, new Set(entries.map(({ resourceId }) => resourceId)).size]).toEqual([writers.length, writers.length]);
  const after = (seconds: number) => new Date(now().getTime() + seconds * 1000);
  const period = { ...all(newId("ws")), from: after(68) };
  for (const at of [70, 65, 80]) await auditLog().append(entry(period.workspaceId, "r", { createdAt: after(at) }));
  expect((await auditPage(period, { limit: 1, offset: 0 })).total, "from the first one that is not earlier").toBe(3);
});

test("one workspace's entries are never another's, whatever the filter says", async () => {
  const [one, other] = [newId("ws"), newId("ws")];
  await auditLog().append(entry(one, "r"));

  const disguised = { workspaceId: other, actor: null, action: `x#${one}` };

  expect((await pageOf(other)).total).toBe(0);
  expect((await auditPage(disguised, { limit: 50, offset: 0 })).total).toBe(0);
});

test("a page costs two reads, of the counter and of its entries, and one beyond the oldest entry costs one", async () => {
  const workspaceId = newId("ws");
  for (const resource of ["a", "b", "c"]) await auditLog().append(entry(workspaceId, resource));
  const send = vi.spyOn(database().client, "send");
  const readsOf = async (offset: number) => {
    send.mockClear();
    await pageOf(workspaceId, 2, offset);
    return send.mock.calls.map(([command]) => command.constructor.name);
  };

  expect(await readsOf(0)).toEqual(["GetCommand", "QueryCommand"]);
  expect(await readsOf(2)).toEqual(["GetCommand", "QueryCommand"]);
  expect(await readsOf(3)).toEqual(["GetCommand"]);
  send.mockRestore();
});

test("a range of more than DynamoDB answers at once, a megabyte, is reported to its end, newest first", async () => {
  const workspaceId = newId("ws");
  const names = ["1", "2", "3", "4", "5", "6", "7", "8"];
  for (const name of names)
    await auditLog().append(entry(workspaceId, name, { detail: { text: "x".repeat(200_000) } }));
  const listed = async (limit: number | null, offset: number) => {
    const resources: string[] = [];
    for await (const batch of await auditLog().batches(all(workspaceId), { limit, offset }))
      resources.push(...batch.map(({ resource_id }) => resource_id));
    return resources;
  };

  expect(await listed(null, 0)).toEqual(names.toReversed());
  expect(await listed(6, 1)).toEqual(names.toReversed().slice(1, 7));
});

test("entries are listed and counted as long as the operator said when they came, also where DynamoDB still has them", async () => {
  const workspaceId = newId("ws");
  const [long, short] = ["20", "5"].map((AUDIT_DAYS) =>
    auditLogIn({ ...database(), keptDays: keptDaysIn({ AUDIT_DAYS }) }, now),
  );
  const append = async (log: typeof long, name: string) => {
    await log?.append(entry(workspaceId, name));
    await cloud.clock.advance({ days: 1 });
  };
  const resources = async () => {
    const page = await short?.page(all(workspaceId), { limit: 50, offset: 0 });
    const rows = page?.rows ?? [];
    expect(page?.total).toBe(rows.length);
    return rows.map(({ resource_id }) => resource_id);
  };
  for (const name of ["old 1", "old 2"]) await append(long, name);
  for (const name of ["new 1", "new 2"]) await append(short, name);

  // The time became shorter: none goes before an older one.
  await cloud.clock.advance({ days: 8 });
  await cloud.dynamodb.sweepExpired();
  expect(await resources()).toEqual(["new 2", "new 1", "old 2", "old 1"]);

  await cloud.clock.advance({ days: 10 });
  expect(await resources()).toEqual([]);
  await cloud.dynamodb.sweepExpired();
  expect(await resources()).toEqual([]);

  await append(short, "newest 1");
  await append(short, "newest 2");
  await cloud.clock.advance({ days: 3, minutes: 1 });
  expect(await resources()).toEqual(["newest 2"]);
  await cloud.clock.advance({ days: 1 });
  expect(await resources()).toEqual([]);
});

test("days that are none are refused by the variable's name", () => {
  for (const days of ["0", "1.5", "soon", "3651", "-3"])
    expect(() => keptDaysIn({ AUDIT_DAYS: days })).toThrow("AUDIT_DAYS must be a whole number of days from 1 to 3650");
  expect(keptDaysIn({ AUDIT_DAYS: "", DELIVERY_DAYS: "7" })).toEqual({ deliveryDays: 7, auditDays: 400 });
});

const AT = new Date("2026-03-01T11:00:00.500Z");
/** 400 days after `AT`. */
const EXPIRES_AT = 1_806_922_800;

// Versions since 0.2 look for an entry in each of these places, and number the next one behind it.
test("entries lie where the released versions look for them, also several of one change", async () => {
  const workspaceId = newId("ws");
  const made = (id: string, actor: string, action: AuditAction) =>
    entry(workspaceId, "r", { id, actor, action, createdAt: AT });
  const append = (...audit: AuditEntry[]) => commit(database(), { writes: [], audit, events: [] });
  const stored = async (filters: string) => {
    const values = { ":pk": workspaceId + filters };
    const asked = { KeyConditionExpression: "pk = :pk", ExpressionAttributeValues: values };
    const query = new QueryCommand({ TableName: database().table("audit"), ...asked });
    const { Items = [] } = await cloud.clients.documents.send(query);
    expect(Items.pop()).toMatchObject({
      ...{ sk: "counter", entries: Items.length, first: 1 },
      ...{ first_expires_at: EXPIRES_AT, last_expires_at: EXPIRES_AT },
    });
    for (const { expires_at } of Items) expect(expires_at).toBe(EXPIRES_AT);
    return Items.map(({ sk, entry: text }) => `${Number(sk)} ${JSON.parse(text).id}`);
  };

  await append(made("aud_1", "a", "token.created"), made("aud_2", "b", "token.created"));
  await append(made("aud_3", "b", "token.revoked"), made("aud_4", "b", "token.created"));

  const [one, two, three, four] = ["aud_1.1.1.1.1", "aud_2.2.1.2.1", "aud_3.3.2.1.1", "aud_4.4.3.3.2"];
  const places = {
    "": [`1 ${one}`, `2 ${two}`, `3 ${three}`, `4 ${four}`],
    "#actor#a": [`1 ${one}`],
    "#actor#b": [`1 ${two}`, `2 ${three}`, `3 ${four}`],
    "#action#token.created": [`1 ${one}`, `2 ${two}`, `3 ${four}`],
    "#action#token.revoked": [`1 ${three}`],
    "#action#token.created#actor#a": [`1 ${one}`],
    "#action#token.created#actor#b": [`1 ${two}`, `2 ${four}`],
    "#action#token.revoked#actor#b": [`1 ${three}`],
  };
  for (const [filters, entries] of Object.entries(places)) expect(await stored(filters), filters).toEqual(entries);
});
