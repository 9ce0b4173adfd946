import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startOrg } from "../../../lib/local/org/start-org.ts";
import { createOrgUser } from "../../support/clients/org-user.ts";
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

test("a session ends two hours after its last use", async () => {
  const clock = new ManualClock();
  const org = await openOrg({ clock });
  org.token = (await createOrgUser(org.org, "user")).accessToken;

  const statuses: number[] = [];
  for (const minutes of [90, 90, 121]) {
    clock.pass(minutes * 60_000);
    statuses.push((await org.get("limits")).status);
  }

  expect(statuses).toEqual([200, 200, 401]);
});

test("a folder belongs to one org at a time, and a file that is no org's is named", async () => {
  const [dataDir, other] = [await freshFolder(), await freshFolder()];
  await openOrg({ dataDir });
  await writeFile(join(other, "org.db"), "something else\n".repeat(100));

  await expect(startOrg({ dataDir })).rejects.toThrow(`${dataDir} is in use by process ${process.pid}`);
  await expect(startOrg({ dataDir: other })).rejects.toThrow("org.db: file is not a database");
});

test("login gives a session and its server URL, wrong credentials get Salesforce's own fault", async () => {
  const org = new Client((await openOrg()).org, "64.0");
  const login = (password: string, version = org) =>
    version.soap(`<login><username>${org.org.username}</username><password>${password}</password></login>`);

  const good = await login(org.org.password);
  org.token = /<sessionId>([^<]+)</.exec(good.text)?.[1] ?? "";
  const bad = await login("wrong");
  const late = await login(org.org.password, new Client(org.org, "65.0"));

  expect(good.text).toContain(`<serverUrl>${org.org.url}/services/Soap/u/64.0/`);
  expect((await org.get("limits")).status).toBe(200);
  expect(bad.status).toBe(500);
  expect(bad.text).toContain("<faultcode>sf:INVALID_LOGIN</faultcode>");
  expect([late.status, /<sf:exceptionCode>(.*?)</.exec(late.text)?.[1]]).toEqual([500, "UNSUPPORTED_API_VERSION"]);
});

test("an org speaks no version newer than its own, by REST or SOAP", async () => {
  const org = await openOrg({ controls: true });
  await org.call("PUT", "/_sim/release", { newestVersion: 62 });

  const listed = (await org.get("/services/data")).json;

  expect(Array.from(listed).at(-1)).toMatchObject({ version: "62.0" });
  expect((await new Client(org.org, "62.0").get("limits")).status).toBe(200);
  expect((await new Client(org.org, "63.0").get("limits")).status).toBe(404);
  expect((await new Client(org.org, "63.0").soap("<getUserInfo/>")).text).toContain("UNSUPPORTED_API_VERSION");
});
