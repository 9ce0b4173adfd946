import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { SealedWorkspace } from "../../../lib/access/ports.ts";
import { connectOrg } from "../../../lib/adapters/salesforce/connect-org.ts";
import { connectedOrg, usageReader } from "../../../lib/adapters/salesforce/describe/connected-org.ts";
import { guardedFetch } from "../../../lib/adapters/salesforce/guarded-fetch.ts";
import { orgReach } from "../../../lib/adapters/salesforce/org-reach.ts";
import { orgLogin } from "../../../lib/adapters/salesforce/session/log-in.ts";
import { sessionsOf } from "../../../lib/adapters/salesforce/session/sessions.ts";
import type { Org } from "../../../lib/config/org-ports.ts";
import type { OrgReach } from "../../../lib/health/ports.ts";
import { SalesforceRefusal } from "../../../lib/model/change/refusal.ts";
import type { SalesforceConnection } from "../../../lib/model/workspace/workspace.ts";
import type { OrgLogin } from "../../../lib/settings/ports.ts";
import type { KeptConnection, Sessions } from "../../../lib/sync/beat/sessions.ts";
import type { Salesforce } from "../../../lib/sync/cycle/cycle-ports.ts";

const SECRET = "00Dxx0000001gPL!secret";

/** Where the redirects lead; it represents a metadata service. */
let target: Server;
let reached: string[] = [];
/** An org that redirects all that it is asked. */
let org: Server;
let asked = 0;
let status = 302;

beforeAll(async () => {
  target = await listening((request, response) => {
    reached.push(`${request.method} ${request.url}`);
    response.end("[]");
  });
  org = await listening((request, response) => {
    asked += 1;
    if (status === 200) {
      response.end(JSON.stringify({ access_token: SECRET, instance_url: urlOf(target) }));
      return;
    }
    const location = `${urlOf(target)}${request.url}?token=${SECRET}`;
    response.writeHead(status, { location, date: new Date().toUTCString() }).end();
  });
});
beforeEach(() => {
  reached = [];
  asked = 0;
});
afterAll(() => {
  for (const server of [target, org]) server.close().closeAllConnections();
});

async function listening(answer: RequestListener): Promise<Server> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

function connection(accessToken: string | null): SalesforceConnection {
  const credentials = { kind: "client_credentials", clientId: "id", clientSecret: "secret" } as const;
  const who = { organizationId: "00D000000000001AAA", userId: "", formerUserIds: [], apiVersion: "66.0" };
  return { ...who, loginUrl: urlOf(org), instanceUrl: urlOf(org), credentials, accessToken };
}

function sessions(accessToken: string | null = SECRET): Sessions {
  const kept: KeptConnection = { connection: connection(accessToken), mark: "0" };
  const connections = {
    read: async () => kept,
    claimRenewal: async () => true,
    abandonRenewal: async () => undefined,
    keep: async () => undefined,
  };
  return sessionsOf({ connections, now: () => new Date() }, "ws");
}

/** Every call of a port, so that a new method of it is missing here at compile time. */
type Calls<Port> = Readonly<Record<keyof Port, () => Promise<unknown>>>;

const salesforce = () => connectOrg(sessions(), new AbortController().signal);
const record = { id: "001000000000001AAA", values: { Name: "Acme" } };

const ofTheEngine: Calls<Omit<Salesforce, "calls" | "usage">> = {
  query: () => salesforce().query("SELECT Id FROM Account"),
  askTogether: () => salesforce().askTogether(["SELECT Id FROM Account"], []),
  queryTogether: () => salesforce().queryTogether(["SELECT Id FROM Account", "SELECT Id FROM Contact"]),
  write: () => salesforce().write("update", "Account", [record], null),
  deleted: () => salesforce().deleted("Account", new Date(0), new Date(3_600_000)),
  recordCount: () => salesforce().recordCount("Account"),
  startBulkQuery: () => salesforce().startBulkQuery("SELECT Id FROM Account"),
  bulkQueryRecords: () => salesforce().bulkQueryRecords("750000000000001AAA"),
  bulkResults: () => salesforce().bulkResults("750000000000001AAA", null),
  describe: () => salesforce().describe("Account"),
  openBulkSave: () => salesforce().openBulkSave("update", "Account", null),
  uploadBulkSave: () => salesforce().uploadBulkSave("750000000000001AAA", [record]),
  startBulkSave: () => salesforce().startBulkSave("750000000000001AAA"),
  abortBulkSave: () => salesforce().abortBulkSave("750000000000001AAA"),
  pollBulkSave: () => salesforce().pollBulkSave("750000000000001AAA"),
  bulkSaved: () => salesforce().bulkSaved("750000000000001AAA", "successful"),
};

const ofALogin: Calls<OrgLogin> = {
  logIn: () => orgLogin.logIn(urlOf(org), connection(null).credentials, new Date()),
  exchangeCode: () => {
    const app = { clientId: "id", clientSecret: null, redirectUri: "http://localhost/callback", codeVerifier: "v" };
    return orgLogin.exchangeCode({ loginUrl: urlOf(org), ...app }, "code");
  },
  identify: () => orgLogin.identify({ accessToken: SECRET, instanceUrl: urlOf(org), refreshToken: null }),
  versions: () => orgLogin.versions(urlOf(org)),
};

const needs = { sessionsOf: () => sessions(), countCalls: async () => undefined };
const workspace = { id: "ws" } as SealedWorkspace;

const ofTheSettings: Calls<Org & { readonly usage: unknown }> = {
  objects: () => connectedOrg(needs).objects(workspace),
  describe: () => connectedOrg(needs).describe(workspace, ["Account"]),
  usage: () => usageReader(needs)("ws"),
};

const REFUSED = new RegExp(
  String.raw`^127\.0\.0\.1:\d+ answered with a redirect \(30[12378]\) to 127\.0\.0\.1:\d+, which is not followed; ` +
    "connect the workspace to Salesforce again, with the org's own My Domain URL \\(https://….my.salesforce.com\\) as login URL$",
);

describe.each([301, 302, 303, 307, 308])("an org that redirects with %i leads nowhere", (answered) => {
  beforeEach(() => {
    status = answered;
  });

  test.each(Object.entries({ ...ofTheEngine, ...ofALogin }))("by %s, which says what to do", async (_, ask) => {
    const error: unknown = await ask().catch((refused: unknown) => refused);

    expect(reached).toEqual([]);
    expect(asked).toBe(1);
    if (!(error instanceof SalesforceRefusal)) throw error;
    expect(error.refusal).toMatchObject({ kind: "session", code: "REDIRECTED", mayHaveRun: false });
    expect(error.refusal.message).toMatch(REFUSED);
  });

  test.each(Object.entries(ofTheSettings))("by the settings' %s", async (_, ask) => {
    await expect(ask()).rejects.toThrow("the org's own My Domain URL");

    expect(reached).toEqual([]);
    expect(asked).toBe(1);
  });

  test("when health is asked", async () => {
    const reach: OrgReach = orgReach(() => new Date());

    expect(await reach.isReachable(connection(SECRET))).toBe(false);
    expect({ reached, asked }).toEqual({ reached: [], asked: 1 });
  });

  test("when a session is renewed", async () => {
    const org = connectOrg(sessions(null), new AbortController().signal);

    await expect(org.query("SELECT Id FROM Account")).rejects.toThrow("REDIRECTED");
    expect(org.calls()).toEqual({});
    expect({ reached, asked }).toEqual({ reached: [], asked: 1 });
  });
});

test("a renewed session that names another host as its instance is not used, and its token goes nowhere", async () => {
  status = 200;
  const org = connectOrg(sessions(null), new AbortController().signal);

  await expect(org.query("SELECT Id FROM Account")).rejects.toThrow("names an instance that is not Salesforce's");
  status = 302;
  expect({ reached, asked }).toEqual({ reached: [], asked: 1 });
});

test("a redirected call is not counted, because no org has let it in", async () => {
  const org = salesforce();

  await org.query("SELECT Id FROM Account").catch(() => undefined);
  await org.bulkResults("750000000000001AAA", null).catch(() => undefined);
  await org.uploadBulkSave("750000000000001AAA", [record]).catch(() => undefined);

  expect(asked).toBe(3);
  expect(org.calls()).toEqual({});
});

test("no caller can ask the guarded fetch to follow", async () => {
  // @ts-expect-error: a redirect is not the caller's to decide
  await expect(guardedFetch(urlOf(org), { redirect: "follow" })).rejects.toThrow("REDIRECTED");

  expect(reached).toEqual([]);
});

test("a redirect without an address, or with one that can't be read, is refused in the same words", async () => {
  const bare = await listening((request, response) => {
    response.writeHead(302, request.url === "/bad" ? { location: "http://[" } : {}).end();
  });

  for (const path of ["/none", "/bad"]) {
    await expect(guardedFetch(`${urlOf(bare)}${path}`, {})).rejects.toThrow(
      "answered with a redirect (302) to no address that can be read, which is not followed",
    );
  }
  bare.close().closeAllConnections();
});
