import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { connections } from "../../../../functions/services/composition.ts";
import type { SalesforceConnection } from "../../../../lib/model/workspace/workspace.ts";
import { type BridgeCloud, startBridgeCloud } from "../../../support/worlds/bridge-cloud.ts";
import { createTestWorkspace } from "../../../support/worlds/workspace.ts";

let cloud: BridgeCloud;
let workspaceId: string;
beforeAll(async () => {
  cloud = await startBridgeCloud();
});
beforeEach(async () => {
  ({ id: workspaceId } = await createTestWorkspace({ salesforce: CONNECTION }));
});
afterAll(() => cloud.close());

const CONNECTION: SalesforceConnection = {
  loginUrl: "https://acme.my.salesforce.com",
  instanceUrl: "https://acme.my.salesforce.com",
  organizationId: "00D000000000001AAA",
  userId: "005000000000001AAA",
  formerUserIds: [],
  apiVersion: "68.0",
  credentials: { kind: "client_credentials", clientId: "id", clientSecret: "secret" },
  accessToken: "00D000000000001!first",
};

const at = (seconds: number) => new Date(Date.UTC(2026, 2, 1, 12, 0, seconds));
const claim = (mark: string, now: number, until: number) =>
  connections().claimRenewal(workspaceId, mark, at(now), at(until));

async function kept(): Promise<{ connection: SalesforceConnection; mark: string }> {
  const found = await connections().read(workspaceId);
  if (!found) throw new Error("the workspace is not connected");
  return found;
}

test("one of many invocations gets the right to renew a session, the others only when its time is over", async () => {
  const { mark } = await kept();

  const asked = await Promise.all(Array.from({ length: 5 }, () => claim(mark, 0, 30)));

  expect(asked.filter((isGiven) => isGiven)).toHaveLength(1);
  expect(await claim(mark, 29, 59)).toBe(false);
  expect(await claim(mark, 30, 60)).toBe(true);
  expect(await claim(mark, 59, 89)).toBe(false);
  expect(await kept()).toEqual({ connection: CONNECTION, mark });
});

test("a renewal that was given up can be claimed at once", async () => {
  const { mark } = await kept();
  await claim(mark, 0, 30);

  await connections().abandonRenewal(workspaceId, mark);

  expect(await claim(mark, 1, 31)).toBe(true);
});

test("a caller with an older version may neither renew nor keep a session, and frees no claim", async () => {
  const { mark } = await kept();
  await claim(mark, 0, 30);
  const second = { ...CONNECTION, accessToken: "00D000000000001!second" };
  await connections().keep(workspaceId, mark, second);
  const now = await kept();
  await claim(now.mark, 1, 31);

  await connections().keep(workspaceId, mark, { ...CONNECTION, accessToken: "00D000000000001!stale" });
  await connections().abandonRenewal(workspaceId, mark);

  expect(await claim(mark, 40, 70)).toBe(false);
  expect(await claim(now.mark, 2, 32)).toBe(false);
  expect(await kept()).toEqual({ connection: second, mark: now.mark });
});

test("a workspace without an org has nothing to renew", async () => {
  const { id } = await createTestWorkspace();

  expect(await connections().read(id)).toBeNull();
  expect(await connections().claimRenewal(id, "", at(0), at(30))).toBe(false);
});
