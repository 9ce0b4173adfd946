import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { auditLog, database, now } from "../../../../functions/services/composition.ts";
import { newId } from "../../../../lib/model/id.ts";
import { KEPT_DAYS } from "../../../../lib/model/resources.ts";
import type { AuditAction, AuditEntry } from "../../../../lib/model/workspace/audit.ts";
import { auditPage } from "../../../support/clients/audit-page.ts";
import { isWholeGrid, longTest } from "../../../support/run/whole-grid.ts";
import { type BridgeCloud, startBridgeCloud } from "../../../support/worlds/bridge-cloud.ts";

let cloud: BridgeCloud;
beforeAll(async () => {
  cloud = await startBridgeCloud();
});
afterAll(() => cloud.close());

const entry = (workspaceId: string, actor: string, action: AuditAction, resourceId = "r"): AuditEntry => ({
  id: newId("aud"),
  workspaceId,
  actor,
  action,
  resourceId,
  detail: { text: "ä\n😀" },
  createdAt: now(),
});

const all = (workspaceId: string) => ({ workspaceId, actor: null, action: null });

longTest(
  "a range longer than one read of DynamoDB is reported to its end, each entry once and newest first",
  async () => {
    const workspaceId = newId("ws");
    const made = Array.from({ length: 520 }, (_, at) => entry(workspaceId, "a@example.com", "token.created", `r${at}`));
    for (const one of made) await auditLog().append(one);
    const newestFirst = made.map(({ resourceId }) => resourceId).reverse();
    const idsListed = async (limit: number | null, offset = 0) => {
      const resources: string[] = [];
      for await (const batch of await auditLog().batches(all(workspaceId), { limit, offset })) {
        resources.push(...batch.map(({ resource_id }) => resource_id));
        expect(resources.length).toBeLessThanOrEqual(made.length); // a range that begins again would never end
      }
      return resources;
    };

    expect(await idsListed(null)).toEqual(newestFirst);
    expect(await idsListed(null, 7)).toEqual(newestFirst.slice(7));
    expect(await idsListed(510, 5)).toEqual(newestFirst.slice(5, 515));
    const page = await auditPage(all(workspaceId), { limit: 520, offset: 0 });
    expect(page).toEqual({ entries: [...made].reverse(), total: 520 });
  },
);

test("entries of many writers at once are all kept, each under a number of its own", async () => {
  const workspaceId = newId("ws");
  const writers = isWholeGrid ? 30 : 10;

  await Promise.all(
    Array.from({ length: writers }, (_, at) =>
      auditLog().append(entry(workspaceId, "a@example.com", "rows.retried", `r${at}`)),
    ),
  );

  const { entries, total } = await auditPage(all(workspaceId), { limit: 500, offset: 0 });
  expect(total).toBe(writers);
  expect(new Set(entries.map(({ resourceId }) => resourceId)).size).toBe(writers);
});

test("one workspace's entries are never another's, whatever the filter says", async () => {
  const [one, other] = [newId("ws"), newId("ws")];
  await auditLog().append(entry(one, "a@example.com", "token.created"));

  const disguised = { workspaceId: other, actor: null, action: `x#${one}` };

  expect((await auditPage(all(other), { limit: 50, offset: 0 })).total).toBe(0);
  expect((await auditPage(disguised, { limit: 50, offset: 0 })).total).toBe(0);
});

longTest("entries past their days are neither listed nor counted, also while DynamoDB still has them", async () => {
  const workspaceId = newId("ws");
  for (let day = 0; day < 9; day += 1) {
    await auditLog().append(entry(workspaceId, "a@example.com", "token.created", `day ${day}`));
    await cloud.clock.advance({ days: 1 });
  }
  const resources = async () => {
    const { entries, total } = await auditPage(all(workspaceId), { limit: 50, offset: 0 });
    expect(total).toBe(entries.length);
    return entries.map(({ resourceId }) => resourceId);
  };

  await cloud.clock.advance({ days: KEPT_DAYS.auditDays.unset - 4 });
  expect(await resources()).toEqual(["day 8", "day 7", "day 6"]);

  await cloud.dynamodb.sweepExpired();
  expect(await resources()).toEqual(["day 8", "day 7", "day 6"]);

  await auditLog().append(entry(workspaceId, "a@example.com", "token.created", "late"));
  expect(await resources()).toEqual(["late", "day 8", "day 7", "day 6"]);

  await cloud.clock.advance({ days: 30 });
  expect(await resources()).toEqual(["late"]);

  await cloud.clock.advance({ days: KEPT_DAYS.auditDays.unset });
  expect(await resources()).toEqual([]);
  await auditLog().append(entry(workspaceId, "a@example.com", "token.created", "anew"));
  expect(await resources()).toEqual(["anew"]);
});

test("a page costs two reads, of the counter and of its entries, and one beyond the oldest entry costs one", async () => {
  const workspaceId = newId("ws");
  for (const resource of ["a", "b", "c"])
    await auditLog().append(entry(workspaceId, "a@example.com", "token.created", resource));
  const send = vi.spyOn(database().client, "send");
  const readsOf = async (offset: number) => {
    send.mockClear();
    await auditPage(all(workspaceId), { limit: 2, offset });
    return send.mock.calls.map(([command]) => command.constructor.name);
  };

  expect(await readsOf(0)).toEqual(["GetCommand", "QueryCommand"]);
  expect(await readsOf(2)).toEqual(["GetCommand", "QueryCommand"]);
  expect(await readsOf(3)).toEqual(["GetCommand"]);
  send.mockRestore();
});
