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
