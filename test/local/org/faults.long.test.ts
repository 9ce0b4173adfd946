import { statSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createOrgUser } from "../../support/clients/org-user.ts";
import { type Client, freshFolder, openOrg } from "./support/open-org.ts";

const order = (org: Client, fault: object) =>
  org.call("POST", "/_sim/faults", fault, { Authorization: `Bearer ${org.org.accessToken}` });

test.each([
  ["expiredSession", 401, "INVALID_SESSION_ID", "Session expired or invalid"],
  ["limitExceeded", 403, "REQUEST_LIMIT_EXCEEDED", "TotalRequests Limit exceeded."],
  ["concurrentLimit", 403, "REQUEST_LIMIT_EXCEEDED", "ConcurrentPerOrgLongTxn Limit exceeded."],
  [
    "serverError",
    500,
    "UNKNOWN_EXCEPTION",
    expect.stringContaining("Please include this ErrorId if you contact support"),
  ],
])(
  "%s strikes the n-th call that matches, and as often as it was ordered",
  async (kind, status, errorCode, message) => {
    const org = await openOrg();
    await order(org, { kind, path: "GET .*/limits", nth: 2, times: 1 });

    const answers = [await org.get("limits"), await org.get("limits"), await org.get("limits")];

    expect(answers.map((answer) => answer.status)).toEqual([200, status, 200]);
    expect(answers[1]?.json).toEqual([{ errorCode, message }]);
  },
);

test("a query of more records than the order allows takes too long", async () => {
  const org = await openOrg();
  for (const Name of ["One", "Two", "Three"]) await org.call("POST", "/services/data/v66.0/sobjects/Account", { Name });
  const asked = async (soql: string) => (await org.get(`query?q=${encodeURIComponent(soql)}`)).json;
  await order(org, { kind: "queryTimeout", object: "Account", size: 2, times: 0 });

  const timeout = [expect.objectContaining({ errorCode: "QUERY_TIMEOUT" })];
  expect(await asked("SELECT COUNT() FROM Account")).toEqual(timeout);
  expect(await asked("SELECT Id FROM Account LIMIT 3")).toEqual(timeout);
  expect(await asked("SELECT Id FROM Account LIMIT 2")).toMatchObject({ totalSize: 2 });
  expect(await asked("SELECT Id FROM Contact")).toMatchObject({ totalSize: 0 });
});

test("a query, and a job, of more records than the order allows is too large an operation", async () => {
  const org = await openOrg();
  for (const Name of ["One", "Two", "Three"]) await org.call("POST", "/services/data/v66.0/sobjects/Account", { Name });
  const asked = async (soql: string) => (await org.get(`query?q=${encodeURIComponent(soql)}`)).json;
  await order(org, { kind: "largeOperation", object: "Account", size: 2, times: 0 });
  const job = async (query: string) => {
    const { id } = (await org.call("POST", "/services/data/v66.0/jobs/query", { operation: "queryAll", query })).json;
    for (;;) {
      const found = (await org.get(`jobs/query/${id}`)).json;
      if (/JobComplete|Failed/.test(String(found?.["state"]))) return found;
    }
  };

  const message = "exceeded 100000 distinct who/what's";
  expect(await asked("SELECT Id FROM Account LIMIT 3")).toEqual([{ errorCode: "OPERATION_TOO_LARGE", message }]);
  expect(await asked("SELECT Id FROM Account LIMIT 2")).toMatchObject({ totalSize: 2 });
  expect(await job("SELECT Id FROM Account")).toMatchObject({
    state: "Failed",
    errorMessage: `OPERATION_TOO_LARGE: ${message}`,
  });
  expect(await job("SELECT Id FROM Account LIMIT 2")).toMatchObject({ state: "JobComplete" });
});

test.each([0, -3, 7, null])("the count of an object is as old as was ordered: %s", async (count) => {
  const org = await openOrg();
  await org.call("POST", "/services/data/v66.0/sobjects/Account", { Name: "One" });
  await order(org, { kind: "oldCount", object: "Account", count });

  const old = (await org.get("limits/recordCount?sObjects=Account")).json;
  const now = (await org.get("limits/recordCount?sObjects=Account")).json;

  expect(old).toEqual({ sObjects: count === null ? [] : [{ count, name: "Account" }] });
  expect(now).toEqual({ sObjects: [{ count: 1, name: "Account" }] });
});

test("an outage answers HTML with 503, as the real one does", async () => {
  const org = await openOrg();
  await order(org, { kind: "unavailable", times: 0 });

  const answer = await org.get("limits");

  expect([answer.status, answer.headers.get("content-type"), answer.text.startsWith("<html>")]).toEqual([
    503,
    "text/html;charset=UTF-8",
    true,
  ]);
});

test("the same faults reach SOAP in SOAP's own form", async () => {
  const org = await openOrg();
  await order(org, { kind: "limitExceeded" });

  const answer = await org.soap("<getUserInfo/>");

  expect([answer.status, /<sf:exceptionCode>(.*?)</.exec(answer.text)?.[1]]).toEqual([500, "REQUEST_LIMIT_EXCEEDED"]);
});

test("a session that expired under a SOAP call opens nothing more, by whatever protocol", async () => {
  const org = await openOrg();
  const { accessToken } = await createOrgUser(org.org, "integration");
  org.token = accessToken;
  await order(org, { kind: "expiredSession" });

  const answers = [await org.soap("<getUserInfo/>"), await org.soap("<getUserInfo/>"), await org.get("limits")];

  expect(answers.map((answer) => answer.status)).toEqual([500, 500, 401]);
  for (const answer of answers) expect(answer.text).toContain("INVALID_SESSION_ID");
});

test("a record can be saved and its answer lost", async () => {
  const org = await openOrg();
  await order(org, { kind: "saveThenDrop", path: "POST .*/sobjects/Contact" });

  const lost = org.create("Contact", { LastName: "Rose" });

  await expect(lost).rejects.toThrow("fetch failed");
  expect(await org.records("SELECT LastName FROM Contact")).toMatchObject([{ LastName: "Rose" }]);
});

test("a connection can break before the answer, or in the middle of its body", async () => {
  const org = await openOrg();
  await org.create("Contact", { LastName: "Rose" });
  await order(org, { kind: "resetBeforeAnswer", path: "GET .*/query", times: 1 });
  await order(org, { kind: "resetInBody", path: "GET .*/sobjects$" });

  await expect(org.query("SELECT Id FROM Contact")).rejects.toThrow("fetch failed");
  await expect(org.get("sobjects")).rejects.toThrow("terminated");
});

test("an answer can drip, and still be whole", async () => {
  const org = await openOrg();
  await order(org, { kind: "drip", path: "GET .*/limits", milliseconds: 50 });

  expect((await org.get("limits")).json["DailyApiRequests"]).toBeDefined();
});

test("a hanging call ends without an answer", async () => {
  const org = await openOrg();
  await order(org, { kind: "hang", milliseconds: 20 });

  await expect(org.get("limits")).rejects.toThrow("fetch failed");
});

test("a call waits at a gate, which reports that it has come, and is answered when the gate opens", async () => {
  const org = await openOrg();
  const { id } = (await order(org, { kind: "gate", path: "POST .*/sobjects/Contact" })).json;
  const saving = org.call("POST", "sobjects/Contact", { LastName: "Rose" });
  await org.call("GET", `/_sim/gates/${id}`);
  expect(await org.records("SELECT Id FROM Contact")).toEqual([]);

  await org.call("DELETE", `/_sim/faults/${id}`);

  expect((await saving).status).toBe(201);
  expect((await org.call("GET", `/_sim/gates/${id}`)).status).toBe(404);
});

test("single records can be refused, chosen by a value of theirs", async () => {
  const org = await openOrg();
  await order(org, { kind: "lockedRow", object: "Contact", record: "Rose", times: 0 });
  await order(org, { kind: "validation", object: "Contact", record: "Lily", message: "No lilies." });
  const record = (LastName: string) => ({ attributes: { type: "Contact" }, LastName });

  const answer = await org.call("POST", "composite/sobjects", {
    records: [record("Rose"), record("Lily"), record("Iris")],
  });

  expect([...answer.json].map((result) => result["errors"]?.[0]?.["statusCode"] ?? "saved")).toEqual([
    "UNABLE_TO_LOCK_ROW",
    "FIELD_CUSTOM_VALIDATION_EXCEPTION",
    "saved",
  ]);
});

test("pages can be small, locators can expire, and refresh tokens can rotate", async () => {
  const org = await openOrg();
  for (const LastName of ["A", "B", "C"]) await org.create("Contact", { LastName });
  await order(org, { kind: "smallBatches", size: 2, times: 2, path: "/query" });
  await order(org, { kind: "expiredLocator", nth: 2 });
  await order(org, { kind: "rotatedRefreshToken" });

  const first = await org.query("SELECT Id FROM Contact ORDER BY Id");
  const next = String(first.json["nextRecordsUrl"]);
  const [second, third] = [await org.get(next), await org.get(next)];
  const grant = await tokenBy(org, {
    grant_type: "authorization_code",
    client_secret: org.org.clientSecret,
    redirect_uri: REDIRECT,
    code: await codeOf(org),
  });
  const rotated = await tokenBy(org, { grant_type: "refresh_token", refresh_token: grant["refresh_token"] ?? "" });
  const stale = await tokenBy(org, { grant_type: "refresh_token", refresh_token: grant["refresh_token"] ?? "" });
  const after = await tokenBy(org, { grant_type: "refresh_token", refresh_token: rotated["refresh_token"] ?? "" });

  expect(
    [first.json["records"], second.json["records"], third.json["records"]].map(
      (records) => records && [...records].length,
    ),
  ).toEqual([2, 1, undefined]);
  expect(third.json[0]?.["errorCode"]).toBe("INVALID_QUERY_LOCATOR");
  expect(rotated["refresh_token"]).not.toBe(grant["refresh_token"]);
  const refused = { error: "invalid_grant", error_description: "expired access/refresh token" };
  expect([stale, after]).toEqual([refused, refused]);
});

const REDIRECT = "http://127.0.0.1:1717/OauthRedirect";

async function codeOf({ org }: Client): Promise<string> {
  const ask = new URLSearchParams({ response_type: "code", client_id: org.clientId, redirect_uri: REDIRECT });
  const sent = await fetch(`${org.url}/services/oauth2/authorize?${ask}`, { redirect: "manual" });
  return new URL(sent.headers.get("location") ?? "").searchParams.get("code") ?? "";
}

async function tokenBy(org: Client, form: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const body = new URLSearchParams({ client_id: org.org.clientId, ...form });
  const response = await fetch(`${org.org.url}/services/oauth2/token`, { method: "POST", body });
  return (await response.json()) as Record<string, string>;
}

test("every request is on record, with the protocol it came by and how it was answered", async () => {
  const org = await openOrg();
  await org.get("limits");
  await org.soap("<getUserInfo/>");
  await org.get("jobs/query");

  const journal = await org.get("/_sim/requests");

  expect(
    [...journal.json].map((entry) => [entry["api"], entry["method"], entry["operation"], entry["status"]]),
  ).toEqual([
    ["REST", "GET", null, 200],
    ["SOAP", "POST", "getUserInfo", 200],
    ["BULK", "GET", null, 200],
  ]);
});

test("the controls take the administrator's token alone, not other users of the machine nor web pages", async () => {
  const org = await openOrg();
  const { accessToken } = await createOrgUser(org.org, "another");
  const fault = { kind: "serverError", path: "GET .*/limits", times: 0 };
  const ask = (headers: Record<string, string>) =>
    fetch(`${org.org.url}/_sim/faults`, { method: "POST", headers, body: JSON.stringify(fault) });

  const answers = await Promise.all(
    [{}, { Authorization: "Bearer " }, { Authorization: `Bearer ${accessToken}` }].map(ask),
  );

  expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
  expect((await org.get("limits")).status).toBe(200);
});

test("the controls answer no name that a web page may have led here, and nothing is ordered", async () => {
  const org = await openOrg();
  const { port } = new URL(org.org.url);
  const ask = (host: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const body = JSON.stringify({ kind: "serverError", path: "GET .*/limits", times: 0 });
      const headers = { host, authorization: `Bearer ${org.org.accessToken}` };
      const asking = request({ host: "127.0.0.1", port, method: "POST", path: "/_sim/faults", headers });
      asking
        .on("error", reject)
        .on("response", (answer) => resolve(answer.resume().statusCode))
        .end(body);
    });

  expect(await Promise.all([`rebound.example:${port}`, "127.0.0.1.example"].map(ask))).toEqual([403, 403]);
  expect((await org.get("limits")).status).toBe(200);
  expect(await Promise.all([`localhost:${port}`, `127.0.0.1:${port}`].map(ask))).toEqual([201, 201]);
});

test("the org's records are for its owner alone", async () => {
  const dataDir = await freshFolder();
  await openOrg({ dataDir });

  for (const file of ["org.db", "org.db-wal"]) expect(statSync(join(dataDir, file)).mode & 0o777).toBe(0o600);
});

test("the controls are off unless they were switched on", async () => {
  const org = await openOrg({ controls: false });

  expect((await org.get("/_sim/faults")).status).toBe(404);
});

test("a fault that does not exist is refused with what is wrong about it", async () => {
  const org = await openOrg();

  const answer = await order(org, { kind: "earthquake" });

  expect(answer.status).toBe(400);
  expect(String(answer.json["error"])).toContain("kind");
});

test("a refused grant ends a refresh as a revoked token does", async () => {
  const client = await openOrg();
  const { url, clientId, clientSecret, username, password } = client.org;
  await order(client, { kind: "refusedGrant", path: "oauth2/token" });
  const form = { grant_type: "password", client_id: clientId, client_secret: clientSecret, username, password };
  const ask = () => fetch(`${url}/services/oauth2/token`, { method: "POST", body: new URLSearchParams(form) });

  const [refused, granted] = [await ask(), await ask()];

  expect([refused.status, await refused.json()]).toEqual([400, expect.objectContaining({ error: "invalid_grant" })]);
  expect(granted.status).toBe(200);
});
