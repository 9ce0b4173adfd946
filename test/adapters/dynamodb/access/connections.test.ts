import { beforeEach, expect, test } from "vitest";
import { connections } from "../../../../functions/services/composition.ts";
import type { SalesforceConnection } from "../../../../lib/model/workspace/workspace.ts";
import type { KeptConnection } from "../../../../lib/sync/ports/session-ports.ts";
import { createTestWorkspace } from "../../../support/worlds/workspace.ts";
import { aCloud } from "../../cloud.ts";

let workspaceId: string;
aCloud();
beforeEach(async () => {
  ({ id: workspaceId } = await createTestWorkspace({ salesforce: CONNECTION }));
});
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
const claim = async (now: number, until: number, read?: KeptConnection) =>
  connections().claimRenewal(workspaceId, read ?? (await kept()), at(now), at(until));

async function kept(): Promise<KeptConnection> {
  const found = await connections().read(workspaceId);
  if (!found) throw new Error("the workspace is not connected");
  return found;
}

test("one of many invocations gets the right to renew a session, the others only when its time is over", async () => {
  const { version } = await kept();

  const asked = await Promise.all(Array.from({ length: 5 }, () => claim(0, 30)));

  expect(asked.filter((isGiven) => isGiven)).toHaveLength(1);
  expect(await claim(29, 59)).toBe(false);
  expect(await claim(30, 60)).toBe(true);
  expect(await claim(59, 89)).toBe(false);
  expect(await kept()).toEqual({ connection: CONNECTION, version, renewalUntil: at(60) });
});

test.each([
  ["without a trace", null],
  ["with an answer that may be lost", at(0)],
])("a renewal that ended %s can be claimed at once, by one that has read its end", async (_, lostAt) => {
  const before = await kept();
  await claim(0, 30);
  const during = await kept();
  await connections().abandonRenewal(workspaceId, during.version, lostAt);

  expect(await kept()).toMatchObject({ renewalUntil: lostAt });
  expect(await claim(1, 31, during)).toBe(false);
  expect(await claim(1, 31, before)).toBe(lostAt === null);
  expect(await claim(1, 31)).toBe(lostAt !== null); // which the one before has claimed otherwise
  await connections().keep(workspaceId, before.version, { ...CONNECTION, accessToken: "00D000000000001!second" });
  expect(await kept()).toMatchObject({ renewalUntil: null });
});

test("a caller with an older version may neither renew nor keep a session, and frees no claim", async () => {
  const first = await kept();
  const { version } = first;
  await claim(0, 30);
  const second = { ...CONNECTION, accessToken: "00D000000000001!second" };
  await connections().keep(workspaceId, version, second);
  const now = await kept();
  await claim(1, 31);

  await connections().keep(workspaceId, version, { ...CONNECTION, accessToken: "00D000000000001!stale" });
  await connections().abandonRenewal(workspaceId, version, null);

  expect(await claim(40, 70, first)).toBe(false);
  expect(await claim(2, 32)).toBe(false);
  expect(await kept()).toMatchObject({ connection: second, version: now.version });
});

test("a workspace without an org has nothing to renew", async () => {
  const { id } = await createTestWorkspace();
  const read = { connection: CONNECTION, version: "", renewalUntil: null };

  expect(await connections().read(id)).toBeNull();
  expect(await connections().claimRenewal(id, read, at(0), at(30))).toBe(false);
});
