import { expect, test } from "vitest";
import { Client, openOrg } from "./support/open-org.ts";

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

test("fieldsToNull empties a field and the sloppy namespaces of old clients are understood", async () => {
  const org = await openOrg();
  const id = await org.create("Contact", { LastName: "Rose", Title: "Boss", Phone: "1" });

  const answer = await org.soap(
    `<update xmlns:ns1="sobject.partner.soap.sforce.com"><ns1:sObjects><type>Contact</type><fieldsToNull>Title</fieldsToNull><Id>${id}</Id><LastName>Lily</LastName></ns1:sObjects></update>`,
  );

  expect(answer.text).toContain(`<result><id>${id}</id><success>true</success></result>`);
  expect(await org.records("SELECT LastName, Title, Phone FROM Contact")).toMatchObject([
    { LastName: "Lily", Title: null, Phone: "1" },
  ]);
});

test("a JSON Web Token is no session below version 68, in REST it is one in all versions", async () => {
  const org = await openOrg({ controls: true });
  const at = (version: string) => {
    const client = new Client(org.org, version);
    client.token = token;
    return client;
  };
  const control = await org.call("PUT", "/_sim/release", { jsonWebTokens: true });
  expect(control.json).toEqual({ newestVersion: 68, jsonWebTokens: true, audiences: null, scopes: null });
  const { clientId, clientSecret } = org.org;
  const form = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
  const granted = await fetch(`${org.org.url}/services/oauth2/token`, {
    method: "POST",
    body: new URLSearchParams(form),
  });
  const token = ((await granted.json()) as { access_token: string }).access_token;

  const refused = await at("67.0").soap("<getUserInfo/>");
  const taken = await at("68.0").soap("<getUserInfo/>");

  expect(token).toMatch(/^eyJ[\w-]+\.[\w-]+\.[\w-]+$/);
  expect(refused.status).toBe(500);
  expect(refused.text).toContain("<faultcode>sf:INVALID_SESSION_ID</faultcode>");
  expect(taken.status).toBe(200);
  for (const version of ["45.0", "67.0", "68.0"]) expect((await at(version).get("limits")).status).toBe(200);
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
