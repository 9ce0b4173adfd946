import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { expect, test } from "vitest";
import { createOrgUser } from "../../support/clients/org-user.ts";
import { type Client, ManualClock, openOrg } from "./support/open-org.ts";

async function token(org: Client, form: Readonly<Record<string, string>>, headers: Record<string, string> = {}) {
  const response = await fetch(`${org.org.url}/services/oauth2/token`, {
    method: "POST",
    body: new URLSearchParams(form),
    headers,
  });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
}

const somebody = generateKeyPairSync("rsa", { modulusLength: 2048 });

/** A signed assertion, as the jwt-bearer flow sends it. */
function assertion(claims: object, { privateKey } = somebody, alg = "RS256"): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part({ alg })}.${part(claims)}`;
  return `${signed}.${sign("sha256", Buffer.from(signed), privateKey).toString("base64url")}`;
}

const JWT = "urn:ietf:params:oauth:grant-type:jwt-bearer";

test("the password grant answers every key of the documentation, all of them strings, and no refresh token", async () => {
  const org = await openOrg();
  const { clientId, clientSecret, username, password, organizationId, url } = org.org;

  const { status, body } = await token(org, {
    grant_type: "password",
    client_id: clientId,
    client_secret: clientSecret,
    username,
    password: `${password}${"t".repeat(24)}`,
  });

  expect(status).toBe(200);
  expect(body).toEqual({
    access_token: expect.stringMatching(new RegExp(`^${organizationId.slice(0, 15)}!`)),
    signature: expect.any(String),
    scope: "api refresh_token",
    instance_url: url,
    id: expect.stringMatching(new RegExp(`/id/${organizationId}/005\\w{15}$`)),
    token_type: "Bearer",
    issued_at: expect.stringMatching(/^\d{13}$/),
  });
});

test.each([
  ["seconds", 1],
  ["milliseconds, as Salesforce's own command line sends it", 1000],
])("a JWT assertion opens a session, its expiry in %s", async (_, unit) => {
  const clock = new ManualClock("2026-02-03T04:05:06Z");
  const org = await openOrg({ clock });
  const { clientId, username, url } = org.org;
  const claims = (exp: number, aud: string) => assertion({ iss: clientId, sub: username, aud, exp });
  const now = clock.now().getTime() / 1000;

  const good = await token(org, { grant_type: JWT, assertion: claims((now + 180) * unit, `${url}/`) });
  const late = await token(org, { grant_type: JWT, assertion: claims((now - 1) * unit, url) });
  const elsewhere = await token(org, {
    grant_type: JWT,
    assertion: claims((now + 180) * unit, "https://elsewhere.example"),
  });

  org.token = good.body["access_token"] ?? "";
  expect((await org.get("limits")).status).toBe(200);
  expect(late).toEqual({ status: 400, body: { error: "invalid_grant", error_description: "assertion is expired" } });
  expect(elsewhere.body).toEqual({ error: "invalid_grant", error_description: "audience is invalid" });
});

test("an org that knows the key takes no assertion that another one has signed, or signed otherwise", async () => {
  const signer = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const clock = new ManualClock();
  const org = await openOrg({
    clock,
    assertionKey: signer.publicKey.export({ type: "spki", format: "pem" }).toString(),
  });
  const claims = {
    iss: org.org.clientId,
    sub: org.org.username,
    aud: org.org.url,
    exp: clock.now().getTime() + 60_000,
  };
  const ask = (signed: string) => token(org, { grant_type: JWT, assertion: signed });

  const answers = [
    await ask(assertion(claims, signer)),
    await ask(assertion(claims)),
    await ask(assertion(claims, signer, "none")),
    await ask("nonsense"),
  ];

  expect(answers.map(({ status, body }) => [status, body["error_description"]])).toEqual([
    [200, undefined],
    [400, "invalid assertion"],
    [400, "invalid assertion"],
    [400, "invalid assertion"],
  ]);
});

test("client credentials work in the form and in a Basic header", async () => {
  const org = await openOrg();
  const { clientId, clientSecret } = org.org;
  const basic = Buffer.from(`${clientId}:${clientSecret}`).toString("base64");

  const inForm = await token(org, {
    grant_type: "client_credentials",
    client_id: clientId,
    client_secret: clientSecret,
  });
  const inHeader = await token(org, { grant_type: "client_credentials" }, { Authorization: `Basic ${basic}` });

  expect([inForm.status, inHeader.status]).toEqual([200, 200]);
  expect(inForm.body["refresh_token"]).toBeUndefined();
});

test("an authorization code works once, for its address and its verifier only", async () => {
  const org = await openOrg();
  const { clientId, url } = org.org;
  const verifier = "v".repeat(64);
  const redirect = "http://127.0.0.1:1717/OauthRedirect";
  const ask = new URLSearchParams({
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirect,
    state: "s1",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  const code = async () => {
    const sent = await fetch(`${url}/services/oauth2/authorize?${ask}`, { redirect: "manual" });
    return new URL(sent.headers.get("location") ?? "").searchParams;
  };
  const exchange = (value: string | null, changes: object = {}) =>
    token(org, {
      grant_type: "authorization_code",
      client_id: clientId,
      code: value ?? "",
      redirect_uri: redirect,
      code_verifier: verifier,
      ...changes,
    });

  const first = await code();
  const granted = await exchange(first.get("code"));
  const again = await exchange(first.get("code"));
  const wrong = await exchange((await code()).get("code"), { code_verifier: "w".repeat(64) });
  const refreshed = await token(org, {
    grant_type: "refresh_token",
    client_id: clientId,
    refresh_token: granted.body["refresh_token"] ?? "",
  });

  expect(first.get("state")).toBe("s1");
  expect([granted.status, refreshed.status]).toEqual([200, 200]);
  expect(refreshed.body["refresh_token"]).toBeUndefined();
  expect([again.body["error_description"], wrong.body["error_description"]]).toEqual([
    "expired authorization code",
    "invalid code verifier",
  ]);
});

test.each([
  [{ grant_type: "telepathy" }, "unsupported_grant_type", "grant type not supported"],
  [{ grant_type: "password", client_id: "nobody" }, "invalid_client_id", "client identifier invalid"],
  [
    { grant_type: "refresh_token", client_id: "@", refresh_token: "none" },
    "invalid_grant",
    "expired access/refresh token",
  ],
  [
    { grant_type: "client_credentials", client_id: "@", client_secret: "wrong" },
    "invalid_client",
    "invalid client credentials",
  ],
  [
    { grant_type: "password", client_id: "@", client_secret: "@", username: "nobody", password: "x" },
    "invalid_grant",
    "authentication failure",
  ],
])("a token request with %j is refused in OAuth's words", async (form, error, error_description) => {
  const org = await openOrg();
  const filled = Object.entries(form).map(([name, value]): [string, string] => [
    name,
    value !== "@" ? value : name === "client_id" ? org.org.clientId : org.org.clientSecret,
  ]);

  expect(await token(org, Object.fromEntries(filled))).toEqual({ status: 400, body: { error, error_description } });
});

test("a revoked token opens nothing", async () => {
  const org = await openOrg();
  const { clientId, clientSecret } = org.org;
  const { body } = await token(org, {
    grant_type: "client_credentials",
    client_id: clientId,
    client_secret: clientSecret,
  });
  org.token = body["access_token"] ?? "";

  const revoked = await fetch(`${org.org.url}/services/oauth2/revoke`, {
    method: "POST",
    body: new URLSearchParams({ token: org.token }),
  });

  expect(revoked.status).toBe(200);
  expect((await org.get("limits")).json).toEqual([
    { errorCode: "INVALID_SESSION_ID", message: "Session expired or invalid" },
  ]);
});

test("an authorization that is no bearer token is refused as such", async () => {
  const org = await openOrg();

  const answer = await org.call("GET", "limits", undefined, { Authorization: "Digest abc" });

  expect([answer.status, answer.json]).toEqual([
    401,
    [{ errorCode: "INVALID_AUTH_HEADER", message: "INVALID_HEADER_TYPE" }],
  ]);
});

test("an unknown caller is refused, whatever it shows", async () => {
  const org = await openOrg();
  const ask = (Authorization: string) => org.call("GET", "/services/oauth2/userinfo", undefined, { Authorization });

  const answers = [await ask("Bearer unknown"), await ask("Digest abc")];

  expect(answers.map(({ status, text }) => [status, text])).toEqual([
    [403, "Bad_OAuth_Token"],
    [403, "Bad_OAuth_Token"],
  ]);
});

test("the owner of a token is shown, and not counted as a call", async () => {
  const org = await openOrg();

  const info = await org.get("/services/oauth2/userinfo");
  const identity = await org.get(`/id/${org.org.organizationId}/${info.json["user_id"]}`);
  await org.get("/services/data");
  const counted = await org.get("limits");

  expect(info.json).toMatchObject({
    organization_id: org.org.organizationId,
    preferred_username: org.org.username,
    active: true,
    user_type: "STANDARD",
    utcOffset: 0,
  });
  expect(String(identity.json["id"])).toMatch(/^https:\/\//);
  expect(identity.json).toMatchObject({
    username: org.org.username,
    urls: { rest: `${org.org.url}/services/data/v{version}/` },
  });
  expect(counted.headers.get("sforce-limit-info")).toBe("api-usage=1/15000");
});

test("a user beside the administrator signs in with the password that was set, and owns what it creates", async () => {
  const client = await openOrg();
  const user = await createOrgUser(client.org, "integration");
  client.token = user.accessToken;

  await client.create("Account", { Name: "Acme" });

  expect(await client.records("SELECT CreatedById, CreatedBy.Username FROM Account")).toMatchObject([
    { CreatedById: user.userId, CreatedBy: { Username: user.username } },
  ]);
});

test("a password that is empty, or of an unknown user, is not set", async () => {
  const client = await openOrg();
  const set = (id: string, NewPassword: string) => client.call("POST", `sobjects/User/${id}/password`, { NewPassword });

  expect((await set(client.org.userId, "")).status).toBe(400);
  expect((await set("005000000000000AAA", "secret")).status).toBe(404);
});
