import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { join } from "node:path";
import { expect, test } from "vitest";
import { selfSigned } from "../../../lib/local/org/http/self-signed.ts";
import { openOrg as openLoneOrg, runOrg } from "../../../lib/local/org/run-org.ts";
import { startOrg } from "../../../lib/local/org/start-org.ts";
import { createOrgUser } from "../../support/clients/org-user.ts";
import { temporaryFolder } from "../../support/run/temporary-folder.ts";
import { Client, ManualClock, openOrg } from "./support/open-org.ts";

test("an org keeps its records, its token and its count of calls over a restart", async () => {
  const dataDir = temporaryFolder();
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
  const [dataDir, other] = [temporaryFolder(), temporaryFolder()];
  await openOrg({ dataDir });
  await writeFile(join(other, "org.db"), "something else\n".repeat(100));

  await expect(startOrg({ dataDir })).rejects.toThrow(`${dataDir} is in use by process ${process.pid}`);
  await expect(startOrg({ dataDir: other })).rejects.toThrow("org.db: file is not a database");
});

test("alone and with TLS it serves HTTPS under a certificate that it renews before its end, and keeps until then", async () => {
  const dataDir = temporaryFolder();
  const certificate = () => readFile(join(dataDir, "tls-cert.pem"), "utf8");
  const old = selfSigned(new Date("2020-01-01T00:00:00Z"));
  await writeFile(join(dataDir, "tls-key.pem"), old.key);
  await writeFile(join(dataDir, "tls-cert.pem"), old.cert);
  const stop = new AbortController();
  const said = Promise.withResolvers<string>();
  const running = runOrg({ dataDir, port: 0, tls: true }, said.resolve, stop.signal);

  const text = await said.promise;
  const renewed = await certificate();
  const url = /https:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0] ?? "";
  const [response] = await once(request(`${url}/services/data`, { ca: renewed, agent: false }).end(), "response");
  response.resume();
  stop.abort();
  await running;
  await (await openLoneOrg({ dataDir, port: 0, tls: true })).close();

  expect(response.statusCode).toBe(200);
  expect(text).toContain("access token   00D");
  expect(renewed).not.toBe(old.cert);
  expect(await certificate()).toBe(renewed);
});

test("a definition that is wrong is refused with its place, before anything is started", async () => {
  const dataDir = temporaryFolder();
  const file = join(dataDir, "org.json");
  await writeFile(file, JSON.stringify({ objects: [{ name: "Thing__c", fields: [{ name: "A__c", type: "poem" }] }] }));

  const running = runOrg({ dataDir, port: 0, definition: file }, () => {}, new AbortController().signal);

  await expect(running).rejects.toThrow(/org\.json is no org definition: objects\.0\.fields\.0\.type/);
});
