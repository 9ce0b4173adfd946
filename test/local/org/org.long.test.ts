import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startOrg } from "../../../lib/local/org/start-org.ts";
import { Client, freshFolder, ManualClock, openOrg } from "./support/open-org.ts";

test("an org keeps its records, its token and its count of calls over a restart", async () => {
  const dataDir = await freshFolder();
  const first = await startOrg({ dataDir });
  const id = await new Client(first).create("Account", { Name: "Acme" });
  await first.close();

  const again = await openOrg({ dataDir });
  const answer = await again.query("SELECT Id, Name FROM Account");

  expect(again.org).toMatchObject({
    accessToken: first.accessToken,
    password: first.password,
    organizationId: first.organizationId,
    clientId: first.clientId,
  });
  expect(answer.json["records"]).toMatchObject([{ Id: id, Name: "Acme" }]);
  expect(answer.headers.get("sforce-limit-info")).toBe("api-usage=2/15000");
});

test("when the day's calls are used up every call is refused until old ones are 24 hours past", async () => {
  const clock = new ManualClock();
  const org = await openOrg({ clock, dailyApiRequests: 2 });
  await org.get("limits");
  await org.get("limits");

  const refused = await org.get("limits");
  clock.pass(24 * 3600 * 1000);
  const later = await org.get("limits");

  expect([refused.status, refused.json]).toEqual([
    403,
    [{ errorCode: "REQUEST_LIMIT_EXCEEDED", message: "TotalRequests Limit exceeded." }],
  ]);
  expect(later.json["DailyApiRequests"]).toEqual({ Max: 2, Remaining: 1 });
});

test("a token of the password grant opens the org for two hours from its last use", async () => {
  const clock = new ManualClock();
  const org = await openOrg({ clock });
  const form = new URLSearchParams({
    grant_type: "password",
    client_id: org.org.clientId,
    client_secret: org.org.clientSecret,
    username: org.org.username,
    password: org.org.password,
  });
  const granted = (await (
    await fetch(`${org.org.url}/services/oauth2/token`, { method: "POST", body: form })
  ).json()) as Record<string, string>;
  org.token = granted["access_token"] ?? "";

  clock.pass(90 * 60_000);
  const used = await org.get("limits");
  clock.pass(90 * 60_000);
  const refreshed = await org.get("limits");
  clock.pass(121 * 60_000);
  const expired = await org.get("limits");

  expect(granted["instance_url"]).toBe(org.org.url);
  expect([used.status, refreshed.status]).toEqual([200, 200]);
  expect([expired.status, expired.json]).toEqual([
    401,
    [{ errorCode: "INVALID_SESSION_ID", message: "Session expired or invalid" }],
  ]);
});

test("a folder belongs to one org at a time, and a file that is no org's is named", async () => {
  const [dataDir, other] = [await freshFolder(), await freshFolder()];
  await openOrg({ dataDir });
  await writeFile(join(other, "org.db"), "something else\n".repeat(100));

  await expect(startOrg({ dataDir })).rejects.toThrow(`${dataDir} is in use by process ${process.pid}`);
  await expect(startOrg({ dataDir: other })).rejects.toThrow("org.db: file is not a database");
});
