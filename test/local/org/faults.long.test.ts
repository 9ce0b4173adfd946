import { request } from "node:http";
import { expect, test } from "vitest";
import { createOrgUser } from "../../support/clients/org-user.ts";
import { type Client, openOrg } from "./support/open-org.ts";

const order = (org: Client, fault: object) =>
  org.call("POST", "/_sim/faults", fault, { Authorization: `Bearer ${org.org.accessToken}` });

test("a fault strikes the n-th call that matches, as often as it was ordered, in the words and form of the protocol", async () => {
  const org = await openOrg();
  for (const [kind, status, errorCode, message] of [
    ["limitExceeded", 403, "REQUEST_LIMIT_EXCEEDED", "TotalRequests Limit exceeded."],
    ["concurrentLimit", 403, "REQUEST_LIMIT_EXCEEDED", "ConcurrentPerOrgLongTxn Limit exceeded."],
    ["serverError", 500, "UNKNOWN_EXCEPTION", expect.stringContaining("include this ErrorId if you contact support")],
  ] as const) {
    await order(org, { kind, path: "GET .*/limits", nth: 2, times: 1 });

    const answers = [await org.get("limits"), await org.get("limits"), await org.get("limits")];

    expect(answers.map((answer) => answer.status)).toEqual([200, status, 200]);
    expect(answers[1]?.json).toEqual([{ errorCode, message }]);
  }
  await order(org, { kind: "limitExceeded" });
  const soap = await org.soap("<getUserInfo/>");
  expect([soap.status, /<sf:exceptionCode>(.*?)</.exec(soap.text)?.[1]]).toEqual([500, "REQUEST_LIMIT_EXCEEDED"]);
  await order(org, { kind: "unavailable" });
  const down = await org.get("limits");
  expect([down.status, down.headers.get("content-type"), down.text.slice(0, 6)]).toEqual([
    503,
    "text/html;charset=UTF-8",
    "<html>",
  ]);
});

test("a query, and a job, of more records than the order allows takes too long, or is too large an operation", async () => {
  const org = await openOrg();
  for (const Name of ["One", "Two", "Three"]) await org.create("Account", { Name });
  const asked = async (soql: string) => (await org.query(soql)).json;
  await order(org, { kind: "queryTimeout", object: "Account", size: 2, times: 1 });
  expect(await asked("SELECT Id FROM Account LIMIT 2")).toMatchObject({ totalSize: 2 });
  expect(await asked("SELECT COUNT() FROM Account")).toMatchObject([{ errorCode: "QUERY_TIMEOUT" }]);
  await order(org, { kind: "largeOperation", object: "Account", size: 2, times: 0 });
  const job = async (query: string) => {
    const { id } = (await org.call("POST", "jobs/query", { operation: "queryAll", query })).json;
    for (;;) {
      const found = (await org.get(`jobs/query/${id}`)).json;
      if (/JobComplete|Failed/.test(String(found["state"]))) return found;
    }
  };

  const message = "exceeded 100000 distinct who/what's";
  expect(await asked("SELECT Id FROM Account LIMIT 3")).toEqual([{ errorCode: "OPERATION_TOO_LARGE", message }]);
  expect(await job("SELECT Id FROM Account")).toMatchObject({
    state: "Failed",
    errorMessage: `OPERATION_TOO_LARGE: ${message}`,
  });
  expect(await job("SELECT Id FROM Account LIMIT 2")).toMatchObject({ state: "JobComplete" });
});

test("the count of an object is as old as was ordered, once", async () => {
  const org = await openOrg();
  await org.create("Account", { Name: "One" });
  const counted = async () => (await org.get("limits/recordCount?sObjects=Account")).json["sObjects"];

  for (const count of [0, -3, 7, null]) {
    await order(org, { kind: "oldCount", object: "Account", count });

    expect(await counted()).toEqual(count === null ? [] : [{ count, name: "Account" }]);
    expect(await counted()).toEqual([{ count: 1, name: "Account" }]);
  }
});

test("a session that expired under a SOAP call opens nothing more, by whatever protocol", async () => {
  const org = await openOrg();
  org.token = (await createOrgUser(org.org, "integration")).accessToken;
  await order(org, { kind: "expiredSession" });

  const answers = [await org.soap("<getUserInfo/>"), await org.soap("<getUserInfo/>"), await org.get("limits")];

  expect(answers.map((answer) => answer.status)).toEqual([500, 500, 401]);
  for (const answer of answers) expect(answer.text).toContain("INVALID_SESSION_ID");
});

test("the network loses the answer of a save, breaks before an answer or in its body, hangs, or drips", async () => {
  const org = await openOrg();
  await order(org, { kind: "saveThenDrop", path: "POST .*/sobjects/Contact" });
  await order(org, { kind: "resetBeforeAnswer", path: "GET .*/query", times: 1 });
  await order(org, { kind: "resetInBody", path: "GET .*/sobjects$" });
  await order(org, { kind: "hang", path: "GET .*/limits", milliseconds: 20, times: 1 });

  await expect(org.create("Contact", { LastName: "Rose" })).rejects.toThrow("fetch failed");
  await expect(org.query("SELECT Id FROM Contact")).rejects.toThrow("fetch failed");
  await expect(org.get("sobjects")).rejects.toThrow("terminated");
  await expect(org.get("limits")).rejects.toThrow("fetch failed");
  await order(org, { kind: "drip", path: "GET .*/limits", milliseconds: 50 });
  expect((await org.get("limits")).json["DailyApiRequests"]).toBeDefined();
  expect(await org.records("SELECT LastName FROM Contact")).toMatchObject([{ LastName: "Rose" }]);
});

test("pages can be small, and locators can expire", async () => {
  const org = await openOrg();
  for (const LastName of ["A", "B", "C"]) await org.create("Contact", { LastName });
  await order(org, { kind: "smallBatches", size: 2, times: 2, path: "/query" });
  await order(org, { kind: "expiredLocator", nth: 2 });

  const first = await org.query("SELECT Id FROM Contact ORDER BY Id");
  const next = String(first.json["nextRecordsUrl"]);
  const [second, third] = [await org.get(next), await org.get(next)];

  expect([first, second].map(({ json }) => [...(json["records"] ?? [])].length)).toEqual([2, 1]);
  expect(third.json[0]?.["errorCode"]).toBe("INVALID_QUERY_LOCATOR");
});

test("the controls take the administrator's token under this machine's names alone, and refuse what is no fault", async () => {
  const org = await openOrg();
  const { port } = new URL(org.org.url);
  const { accessToken } = await createOrgUser(org.org, "another");
  const fault = { kind: "serverError", path: "GET .*/limits", times: 0 };
  const ask = (host: string, token: string = org.org.accessToken) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = { host, authorization: `Bearer ${token}` };
      const asking = request({ host: "127.0.0.1", port, method: "POST", path: "/_sim/faults", headers });
      asking
        .on("error", reject)
        .on("response", (answer) => resolve(answer.resume().statusCode))
        .end(JSON.stringify(fault));
    });

  expect(await Promise.all(["", accessToken].map((token) => ask(`127.0.0.1:${port}`, token)))).toEqual([401, 401]);
  expect(await ask(`rebound.example:${port}`)).toBe(403); // as a web page may have led here
  expect(await ask("127.0.0.1.example")).toBe(403);
  const unknown = await order(org, { kind: "earthquake" });
  expect([unknown.status, String(unknown.json["error"])]).toEqual([400, expect.stringContaining("kind")]);
  expect((await org.get("limits")).status).toBe(200);
  expect(await Promise.all([`localhost:${port}`, `127.0.0.1:${port}`].map((host) => ask(host)))).toEqual([201, 201]);
  expect((await (await openOrg({ controls: false })).get("/_sim/faults")).status).toBe(404);
});
