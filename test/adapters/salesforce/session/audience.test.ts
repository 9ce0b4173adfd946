import { generateKeyPairSync } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { orgLogin } from "../../../../lib/adapters/salesforce/session/log-in.ts";
import { sessionsOf } from "../../../../lib/adapters/salesforce/session/sessions.ts";
import type { SalesforceConnection } from "../../../../lib/model/workspace/workspace.ts";
import { type ConnectedOrg, startConnectedOrg } from "../../../support/worlds/connected-org.ts";

const signer = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
});
const LOGIN = "https://login.salesforce.com";
const TEST = "https://test.salesforce.com";
const OWN = "https://acme.my.salesforce.com";
const SANDBOX = "https://acme--dev.sandbox.my.salesforce.com";
const GOVERNMENT = "https://acme.my.salesforce.mil";

let org: ConnectedOrg;
/** The audiences of the assertions that were sent, in order. */
let sent: string[] = [];
beforeAll(async () => {
  org = await startConnectedOrg({ assertionKey: signer.publicKey, controls: true });
});
afterAll(() => org.close());

const accept = (...audiences: string[]) => org.control("PUT", "/release", { audiences });

/** The org answers at all addresses of Salesforce, and calls itself by the one that was asked. */
beforeEach(() => {
  const fetchOrg = globalThis.fetch;
  sent = [];
  vi.stubGlobal("fetch", async (url: string, { dispatcher: _, ...init }: RequestInit & { dispatcher?: unknown }) => {
    const { origin, pathname, search } = new URL(url);
    const [, claims] = init.body instanceof URLSearchParams ? (init.body.get("assertion") ?? "").split(".") : [];
    if (claims) sent.push(String(JSON.parse(Buffer.from(claims, "base64url").toString())["aud"]));
    const { loginUrl } = org.connection;
    const answer = await fetchOrg(`${loginUrl}${pathname}${search}`, init);
    const { status, headers } = answer;
    return new Response((await answer.text()).replaceAll(loginUrl, origin), {
      status,
      headers: { date: headers.get("date") ?? "", "content-type": headers.get("content-type") ?? "" },
    });
  });
});
afterEach(async () => {
  vi.unstubAllGlobals();
  await org.control("PUT", "/release", { audiences: null });
});

function credentialsOf() {
  const { credentials } = org.connection;
  if (credentials.kind !== "password") throw new Error("the local org is connected by password");
  const { clientId, username } = credentials;
  return { kind: "jwt_bearer", clientId, username, privateKey: signer.privateKey } as const;
}
const logIn = (loginUrl: string, credentials: SalesforceConnection["credentials"] = credentialsOf()) =>
  orgLogin.logIn(loginUrl, credentials, new Date());

test.each([
  ["an External Client App", OWN, OWN, [OWN]],
  ["an External Client App, with a slash behind the URL", `${OWN}/`, OWN, [OWN]],
  ["a classic app", OWN, LOGIN, [OWN, LOGIN]],
  ["a classic app of a sandbox", SANDBOX, TEST, [SANDBOX, TEST]],
  ["a classic app of a sandbox, called by the name of production", OWN, TEST, [OWN, LOGIN, TEST]],
  ["an app of a government cloud", GOVERNMENT, LOGIN, [GOVERNMENT, LOGIN]],
  ["a classic app at the common login", LOGIN, LOGIN, [LOGIN]],
  ["a sandbox at the common login", LOGIN, TEST, [LOGIN, TEST]],
])("%s is signed in to at %s, though its audience is %s", async (_, loginUrl, accepted, asked) => {
  await accept(accepted);

  const { credentials } = await logIn(loginUrl);
  const first = sent.splice(0);
  await logIn(loginUrl, credentials);

  expect([first, sent]).toEqual([asked, [accepted]]);
});

test("a renewal keeps the audience that was accepted, and finds another one when the app wants it", async () => {
  let kept: SalesforceConnection = { ...org.connection, loginUrl: OWN, credentials: credentialsOf() };
  const connections = {
    read: async () => ({ connection: kept, version: kept.accessToken ?? "", renewalUntil: null }),
    claimRenewal: async () => true,
    abandonRenewal: async () => undefined,
    keep: async (_: string, __: string, connection: SalesforceConnection) => {
      kept = connection;
    },
  };
  const renew = () => sessionsOf({ connections, now: () => new Date() }, "ws").renew(kept.accessToken);

  await accept(LOGIN);
  await renew();
  await renew();
  await accept(OWN);
  await renew();

  expect(sent).toEqual([OWN, LOGIN, LOGIN, LOGIN, OWN]);
  expect(kept.credentials).toMatchObject({ kind: "jwt_bearer", audience: OWN });
});

test.each([
  ["an app that takes no audience is offered each once", OWN, "https://elsewhere.example", [OWN, LOGIN, TEST]],
  ["a host that only looks like Salesforce's gets no other", `${OWN}.example`, LOGIN, [`${OWN}.example`]],
  ["another host gets no assertion for elsewhere", "https://login.example", LOGIN, ["https://login.example"]],
])("%s, and is refused in Salesforce's words", async (_, loginUrl, accepted, offered) => {
  await accept(accepted);

  await expect(logIn(loginUrl)).rejects.toThrow("invalid_grant: audience is invalid");
  expect(sent).toEqual(offered);
});

test("another refusal is no reason to offer another audience", async () => {
  await accept(OWN);

  await expect(logIn(OWN, { ...credentialsOf(), username: "nobody@acme.example" })).rejects.toThrow("approved");
  expect(sent).toEqual([OWN]);
});
