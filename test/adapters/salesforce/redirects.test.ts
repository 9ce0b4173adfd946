import { createServer, type RequestListener, type Server } from "node:http";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { SealedWorkspace } from "../../../lib/access/ports.ts";
import { connectOrg } from "../../../lib/adapters/salesforce/connect-org.ts";
import { connectedOrg, usageReader } from "../../../lib/adapters/salesforce/describe/connected-org.ts";
import { guardedFetch } from "../../../lib/adapters/salesforce/guarded-fetch.ts";
import { orgReach } from "../../../lib/adapters/salesforce/org-reach.ts";
import type { Org } from "../../../lib/config/org-ports.ts";
import { SalesforceRefusal } from "../../../lib/model/change/refusal.ts";
import { orgOrigin } from "../../../lib/model/workspace/org-origin.ts";
import type { Salesforce } from "../../../lib/sync/ports/cycle-ports.ts";
import { type Calls, engineCalls, loginCalls, orgConnection, orgSessions } from "../../support/doubles/org-calls.ts";
import { listen } from "../listen.ts";

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
  clients = [];
});
afterAll(() => {
  for (const server of [target, org]) server.close().closeAllConnections();
});

async function listening(answer: RequestListener): Promise<Server> {
  const server = createServer(answer);
  urls.set(server, `http://127.0.0.1:${await listen(server)}`);
  return server;
}

const urls = new Map<Server, string>();
const urlOf = (server: Server) => urls.get(server) ?? "";

/** The clients of one test. */
let clients: Salesforce[] = [];
const ofTheEngine = engineCalls(() => {
  const client = connectOrg(orgSessions(urlOf(org), SECRET), new AbortController().signal);
  clients.push(client);
  return client;
});
const ofALogin = loginCalls(() => urlOf(org));

const needs = { sessionsOf: () => orgSessions(urlOf(org), SECRET), countCalls: async () => undefined };
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

test.each([301, 302, 303, 307, 308])(
  "an org that redirects with %i leads nowhere, and each caller says what to do",
  async (code) => {
    status = code;
    for (const [name, ask] of Object.entries({ ...ofTheEngine, ...ofALogin })) {
      const error: unknown = await ask().catch((refused: unknown) => refused);

      if (!(error instanceof SalesforceRefusal)) throw error;
      expect([name, error.refusal]).toMatchObject([name, { kind: "session", code: "REDIRECTED", mayHaveRun: false }]);
      expect(error.refusal.message).toMatch(REFUSED);
    }
    for (const ask of Object.values(ofTheSettings)) await expect(ask()).rejects.toThrow("the org's own My Domain URL");
    expect(await orgReach(() => new Date()).isReachable(orgConnection(urlOf(org), SECRET))).toBe(false);
    const connected = connectOrg(orgSessions(urlOf(org), null), new AbortController().signal);
    await expect(connected.query("SELECT Id FROM Account")).rejects.toThrow("REDIRECTED");

    const callers = Object.keys({ ...ofTheEngine, ...ofALogin }).length + Object.keys(ofTheSettings).length + 2;
    expect({ reached, asked }).toEqual({ reached: [], asked: callers });
    // No org has let them in.
    expect(clients.map((client) => client.calls())).toEqual(Object.keys(ofTheEngine).map(() => ({})));
  },
);

test("a renewed session that names another host as its instance is not used, and its token goes nowhere", async () => {
  status = 200;
  const connected = connectOrg(orgSessions(urlOf(org), null), new AbortController().signal);

  await expect(connected.query("SELECT Id FROM Account")).rejects.toThrow("names an instance that is not Salesforce's");
  status = 302;
  expect({ reached, asked }).toEqual({ reached: [], asked: 1 });
});

test("of a login at Salesforce only Salesforce's own domains, by HTTPS, are instances", () => {
  const of = (instance: string) => orgOrigin("https://login.salesforce.com", instance);

  for (const instance of ["https://acme.my.salesforce.com", "https://acme.my.salesforce.mil"])
    expect(of(`${instance}/`)).toBe(instance);
  for (const instance of ["https://notsalesforce.com", "https://salesforce.com.example", "http://a.my.salesforce.com"])
    expect(of(instance)).toBeNull();
});

test("a redirect without an address, or with one that can't be read, is refused in the same words, whatever the caller wants", async () => {
  const bare = await listening((request, response) => {
    response.writeHead(302, request.url === "/bad" ? { location: "http://[" } : {}).end();
  });

  // @ts-expect-error: a redirect is not the caller's to decide
  await expect(guardedFetch(urlOf(bare), { redirect: "follow" })).rejects.toThrow("REDIRECTED");
  for (const path of ["/none", "/bad"]) {
    await expect(guardedFetch(`${urlOf(bare)}${path}`, {})).rejects.toThrow(
      "answered with a redirect (302) to no address that can be read, which is not followed",
    );
  }
  bare.close().closeAllConnections();
});
