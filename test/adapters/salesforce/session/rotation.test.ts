import { generateKeyPairSync } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { connections } from "../../../../functions/services/composition.ts";
import { sessionsOf } from "../../../../lib/adapters/salesforce/session/sessions.ts";
import { inWords } from "../../../../lib/model/engine.ts";
import { auditEntry } from "../../../../lib/model/workspace/audit.ts";
import type { SalesforceConnection } from "../../../../lib/model/workspace/workspace.ts";
import type { ConnectionStore } from "../../../../lib/sync/ports/session-ports.ts";
import { failureOf } from "../../../../lib/sync/report/cycle-failure.ts";
import { type BridgeCloud, startBridgeCloud } from "../../../support/worlds/bridge-cloud.ts";
import { type ConnectedOrg, startConnectedOrg } from "../../../support/worlds/connected-org.ts";
import { createTestWorkspace } from "../../../support/worlds/workspace.ts";

/** An org that rotates refresh tokens, and revokes all when one is used again. */
let org: ConnectedOrg;
let cloud: BridgeCloud;
let time: Date;
beforeAll(async () => {
  cloud = await startBridgeCloud();
  org = await startConnectedOrg({ controls: true });
});
beforeEach(async () => {
  time = new Date("2026-03-01T12:00:00Z");
  await org.control("DELETE", "/faults");
  await org.control("POST", "/faults", { kind: "rotatedRefreshToken", times: 0 });
});
afterAll(async () => {
  await org.close();
  await cloud.close();
});

const { privateKey } = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
});
const REDIRECT = "http://127.0.0.1:1717/callback";

/** A sign-in by browser, once. */
async function signIn(): Promise<SalesforceConnection> {
  const { clientId, clientSecret } = appOf();
  const url = new URL("/services/oauth2/authorize", org.connection.loginUrl);
  url.search = new URLSearchParams({ response_type: "code", client_id: clientId, redirect_uri: REDIRECT }).toString();
  const back = new URL((await fetch(url, { redirect: "manual" })).headers.get("location") ?? "");
  const code = back.searchParams.get("code") ?? "";
  const app = { client_id: clientId, client_secret: clientSecret, redirect_uri: REDIRECT };
  const { refresh_token: refreshToken = "" } = await token({ grant_type: "authorization_code", code, ...app });
  return { ...org.connection, credentials: { kind: "refresh_token", clientId, clientSecret, refreshToken } };
}

function appOf() {
  const { credentials } = org.connection;
  if (credentials.kind !== "password") throw new Error("the local org is connected by password");
  return credentials;
}

async function token(form: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const url = `${org.connection.loginUrl}/services/oauth2/token`;
  return (await (await fetch(url, { method: "POST", body: new URLSearchParams(form) })).json()) as never;
}

/** One process of a deployment that is connected so. */
const processOf = (workspaceId: string, store: ConnectionStore = connections()) =>
  sessionsOf({ connections: store, now: () => time }, workspaceId);

async function renewBy(workspaceId: string, store?: ConnectionStore): Promise<SalesforceConnection> {
  const { connection } = await keptIn(workspaceId);
  return processOf(workspaceId, store).renew(connection.accessToken);
}

async function keptIn(workspaceId: string) {
  const kept = await connections().read(workspaceId);
  if (!kept) throw new Error("the workspace is not connected");
  return kept;
}

const pass = (seconds: number) => {
  time = new Date(time.getTime() + seconds * 1000);
};

async function failureFrom(work: Promise<unknown>) {
  const failure = failureOf(await work.catch((thrown: unknown) => thrown));
  return { reason: failure.reason, message: inWords(failure) };
}

test("many processes renew one session for hours, and no refresh token is used twice", async () => {
  const { id } = await createTestWorkspace({ salesforce: await signIn() });

  for (let hour = 0; hour < 4; hour++) {
    const before = (await keptIn(id)).connection.accessToken;
    const renewed = await Promise.all(Array.from({ length: 6 }, () => processOf(id).renew(before)));
    expect(new Set(renewed.map(({ accessToken }) => accessToken)).size).toBe(1);
    expect(renewed[0]?.accessToken).not.toBe(before);
    pass(3600);
  }
});

const CREDENTIALS: Readonly<Record<string, () => Promise<SalesforceConnection>>> = {
  password: async () => org.connection,
  client_credentials: async () => {
    const { clientId, clientSecret } = appOf();
    return { ...org.connection, credentials: { kind: "client_credentials", clientId, clientSecret } };
  },
  jwt_bearer: async () => {
    const { clientId, username } = appOf();
    return { ...org.connection, credentials: { kind: "jwt_bearer", clientId, username, privateKey } };
  },
  refresh_token: signIn,
};
const POINTS = ["before it asks", "before it keeps the answer", "when it has kept the answer"] as const;
/** 12 ways to be killed. */
const KILLS = Object.entries(CREDENTIALS).flatMap(([kind, connect]) =>
  POINTS.map((point) => ({ kind, connect, point })),
);

/** A process that is killed there, while another one waits for what it renews: what that one gets, in the end. */
async function killedAt(id: string, point: (typeof POINTS)[number]) {
  const reached = Promise.withResolvers<void>();
  const die = () => {
    reached.resolve();
    return new Promise<never>(() => undefined);
  };
  const store = connections();
  const dying: Record<(typeof POINTS)[number], Partial<ConnectionStore>> = {
    "before it asks": { claimRenewal: async (...claim) => (await store.claimRenewal(...claim)) && die() },
    "before it keeps the answer": { keep: die },
    "when it has kept the answer": { keep: async (...kept) => store.keep(...kept).then(die) },
  };
  void renewBy(id, { ...store, ...dying[point] });
  await reached.promise;
  return { answer: failureOrToken(renewBy(id)) };
}

/** The session, or why there is none. */
const failureOrToken = (work: Promise<SalesforceConnection>) =>
  work.then(({ accessToken }) => accessToken ?? "").catch((error: unknown) => inWords(failureOf(error)));

test("killed at each point with each credential, a renewal costs nothing, or one sign-in that is named", async () => {
  time = new Date();
  const worlds = await Promise.all(
    KILLS.map(async (kill) => ({ ...kill, ...(await createTestWorkspace({ salesforce: await kill.connect() })) })),
  );
  const waiters = await Promise.all(worlds.map(({ id, point }) => killedAt(id, point)));
  pass(30);

  const results = await Promise.all(
    worlds.map(async ({ id, kind, point }, at) => ({
      ...{ id, kill: `${kind}, ${point}` },
      answers: await Promise.all([waiters[at]?.answer ?? "", failureOrToken(renewBy(id))]),
    })),
  );

  const lost = results.filter(({ answers }) => !answers.every((answer) => answer.startsWith("00D")));
  expect(lost.map(({ kill }) => kill)).toEqual(["refresh_token, before it keeps the answer"]);
  for (const { id, answers } of lost) {
    for (const answer of [...answers, await failureOrToken(renewBy(id))])
      expect(answer).toBe(
        "invalid_grant: expired access/refresh token (an earlier renewal broke off, and its new refresh token is lost); " +
          "connect the workspace to Salesforce again",
      );
    await connections().setSalesforce(id, await signIn(), entry(id));
    expect((await renewBy(id)).accessToken).toMatch(/^00D/);
  }
});

test.each([
  ["an answer that the network loses", { kind: "saveThenDrop" }, true],
  ["a page of an outage", { kind: "unavailable" }, true],
  ["a web page", { kind: "webPage" }, true],
  ["a broken connection", { kind: "resetInBody" }, true],
  ["a request to try again", { kind: "refusedGrant", code: "unknown_error", message: "retry your request" }, false],
  ["a request to wait", { kind: "refusedGrant", message: "token request is already being processed" }, false],
  ["a refusal", { kind: "refusedGrant", message: "ip restricted" }, false],
])("%s in the place of an answer: whether a token may be lost behind it is known", async (_, fault, mayBeLost) => {
  const { id } = await createTestWorkspace({ salesforce: await signIn() });
  await org.control("POST", "/faults", { path: "oauth2/token", ...fault });

  const { reason } = await failureFrom(renewBy(id));

  expect((await keptIn(id)).renewalUntil).toEqual(mayBeLost ? time : null);
  if (fault.kind !== "saveThenDrop") return;
  expect(reason).toBe("salesforce_unavailable");
  expect((await failureFrom(renewBy(id))).message).toContain("(an earlier renewal broke off");
});

test("the new refresh token is kept before anything else is asked, also by a store that fails twice", async () => {
  const { id } = await createTestWorkspace({ salesforce: await signIn() });
  await org.control("PUT", "/release", { jsonWebTokens: true });
  await org.control("DELETE", "/requests");
  const asked: string[] = [];
  const keep: ConnectionStore["keep"] = async (...kept) => {
    const requests = (await org.control("GET", "/requests")) as readonly { path: string }[];
    asked.push(requests.map(({ path }) => path).join(" "));
    if (asked.length < 3) throw new Error("the store does not answer");
    return connections().keep(...kept);
  };

  const { apiVersion } = await renewBy(id, { ...connections(), keep });

  await org.control("PUT", "/release", { jsonWebTokens: false });
  expect(asked.slice(0, 3)).toEqual(Array(3).fill("/services/oauth2/token"));
  expect(apiVersion).toBe("68.0");
  expect((await renewBy(id)).accessToken).toMatch(/^00D/);
});

test("two deployments with one refresh token: the one whose token another has used says so", async () => {
  const shared = await signIn();
  const [first, second] = [
    await createTestWorkspace({ salesforce: shared }),
    await createTestWorkspace({ salesforce: shared }),
  ];
  await renewBy(first.id);
  pass(60);

  const late = await failureFrom(renewBy(second.id));
  const robbed = await failureFrom(renewBy(first.id));

  expect(late.message).toMatch(/^invalid_grant: expired access\/refresh token; connect the workspace/);
  expect(robbed).toEqual({
    reason: "salesforce_authorization",
    message:
      "invalid_grant: expired access/refresh token (used by another client, such as a second deployment, since " +
      "Salesforce rotated it at 2026-03-01T12:00:00.000Z); connect the workspace to Salesforce again, with a sign-in of its own",
  });
});

test("a renewal that outlives its claim uses the session of the one that replaced it", async () => {
  const { id } = await createTestWorkspace({ salesforce: await signIn() });
  const gate = (await org.control("POST", "/faults", { kind: "gate", path: "oauth2/token" })) as { id: number };
  const slow = renewBy(id);
  await org.control("GET", `/gates/${gate.id}`);
  pass(31);
  const replaced = await renewBy(id);

  await org.control("DELETE", `/faults/${gate.id}`);

  expect((await slow).accessToken).toBe(replaced.accessToken);
});

const entry = (workspaceId: string) =>
  auditEntry({ workspaceId, actor: "ada", at: time }, "connection.salesforce_authorized", workspaceId, {});
