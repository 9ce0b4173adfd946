import { QueryCommand } from "@aws-sdk/lib-dynamodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { database } from "../../../../functions/services/composition.ts";
import { commit } from "../../../../lib/adapters/dynamodb/commit.ts";
import { newId } from "../../../../lib/model/id.ts";
import type { AuditAction, AuditEntry } from "../../../../lib/model/workspace/audit.ts";
import { type BridgeCloud, startBridgeCloud } from "../../../support/worlds/bridge-cloud.ts";

let cloud: BridgeCloud;
beforeAll(async () => {
  cloud = await startBridgeCloud();
});
afterAll(() => cloud.close());

const AT = new Date("2026-03-01T11:00:00.500Z");
/** 400 days after `AT`. */
const EXPIRES_AT = 1_806_922_800;

const WORKSPACE = newId("ws");

const entry = (id: string, actor: string, action: AuditAction): AuditEntry => ({
  ...{ id, workspaceId: WORKSPACE, actor, action, resourceId: "r", detail: {}, createdAt: AT },
});

const PARTITIONS = [
  ...["", "#actor#a", "#actor#b", "#action#token.created", "#action#token.revoked"],
  ...["#action#token.created#actor#a", "#action#token.created#actor#b", "#action#token.revoked#actor#b"],
];

async function stored() {
  const found = await Promise.all(
    PARTITIONS.map(async (filters) => {
      const values = { ":pk": WORKSPACE + filters };
      const asked = { KeyConditionExpression: "pk = :pk", ExpressionAttributeValues: values };
      const { Items = [] } = await cloud.clients.documents.send(
        new QueryCommand({ TableName: database().table("audit"), ...asked }),
      );
      const entries = Items.slice(0, -1).map(({ sk, entry, expires_at }) => {
        expect(expires_at).toBe(EXPIRES_AT);
        return `${Number(sk)} ${JSON.parse(entry).id}`;
      });
      const { sk, pk: _, ...counter } = Items.at(-1) ?? {};
      expect(sk).toBe("counter");
      return [filters, { entries, counter }];
    }),
  );
  return Object.fromEntries(found);
}

const counter = (entries: number) => ({
  ...{ entries, first: 1, first_expires_at: EXPIRES_AT, last_expires_at: EXPIRES_AT },
});

// Versions since 0.2 look for an entry in each of these places, and number the next one behind it.
test("entries lie where the released versions look for them, also several of one change", async () => {
  const append = (...audit: AuditEntry[]) => commit(database(), { writes: [], audit, events: [] });

  await append(entry("aud_1", "a", "token.created"), entry("aud_2", "b", "token.created"));
  await append(entry("aud_3", "b", "token.revoked"), entry("aud_4", "b", "token.created"));

  const [one, two, three, four] = ["aud_1.1.1.1.1", "aud_2.2.1.2.1", "aud_3.3.2.1.1", "aud_4.4.3.3.2"];
  expect(await stored()).toEqual({
    "": { entries: [`1 ${one}`, `2 ${two}`, `3 ${three}`, `4 ${four}`], counter: counter(4) },
    "#actor#a": { entries: [`1 ${one}`], counter: counter(1) },
    "#actor#b": { entries: [`1 ${two}`, `2 ${three}`, `3 ${four}`], counter: counter(3) },
    "#action#token.created": { entries: [`1 ${one}`, `2 ${two}`, `3 ${four}`], counter: counter(3) },
    "#action#token.revoked": { entries: [`1 ${three}`], counter: counter(1) },
    "#action#token.created#actor#a": { entries: [`1 ${one}`], counter: counter(1) },
    "#action#token.created#actor#b": { entries: [`1 ${two}`, `2 ${four}`], counter: counter(2) },
    "#action#token.revoked#actor#b": { entries: [`1 ${three}`], counter: counter(1) },
  });
});
