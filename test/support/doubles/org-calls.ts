import { orgLogin } from "../../../lib/adapters/salesforce/session/log-in.ts";
import { sessionsOf } from "../../../lib/adapters/salesforce/session/sessions.ts";
import type { SalesforceConnection } from "../../../lib/model/workspace/workspace.ts";
import type { OrgLogin } from "../../../lib/settings/ports.ts";
import type { Salesforce } from "../../../lib/sync/ports/cycle-ports.ts";
import type { KeptConnection, Sessions } from "../../../lib/sync/ports/session-ports.ts";

/** The connection to an org at this address. */
export function orgConnection(url: string, accessToken: string | null): SalesforceConnection {
  const credentials = { kind: "client_credentials", clientId: "id", clientSecret: "secret" } as const;
  const who = { organizationId: "00D000000000001AAA", userId: "", formerUserIds: [], apiVersion: "66.0" };
  return { ...who, loginUrl: url, instanceUrl: url, credentials, accessToken };
}

/** Sessions with it, of which nothing is kept. */
export function orgSessions(url: string, accessToken: string | null): Sessions {
  const kept: KeptConnection = { connection: orgConnection(url, accessToken), version: "0", renewalUntil: null };
  const connections = {
    read: async () => kept,
    claimRenewal: async () => true,
    abandonRenewal: async () => undefined,
    keep: async () => undefined,
  };
  return sessionsOf({ connections, now: () => new Date() }, "ws");
}

/** Every call of a port, so that a new method of it is missing here at compile time. */
export type Calls<Port> = Readonly<Record<keyof Port, () => Promise<unknown>>>;

const record = { id: "001000000000001AAA", values: { Name: "Acme" } };

/** Every call of the engine; what comes as a stream is read to its end. */
export const engineCalls = (salesforce: () => Salesforce): Calls<Omit<Salesforce, "calls" | "usage">> => ({
  query: () => salesforce().query("SELECT Id FROM Account"),
  askTogether: () => salesforce().askTogether(["SELECT Id FROM Account"], []),
  queryTogether: () => salesforce().queryTogether(["SELECT Id FROM Account", "SELECT Id FROM Contact"]),
  write: () => salesforce().write("update", "Account", [record], null),
  deleted: () => salesforce().deleted("Account", new Date(0), new Date(3_600_000)),
  recordCount: () => salesforce().recordCount("Account"),
  startBulkQuery: () => salesforce().startBulkQuery("SELECT Id FROM Account"),
  bulkQueryRecords: () => salesforce().bulkQueryRecords("750000000000001AAA"),
  bulkResults: async () => drained((await salesforce().bulkResults("750000000000001AAA", null)).pieces),
  describe: () => salesforce().describe("Account"),
  openBulkSave: () => salesforce().openBulkSave("update", "Account", null),
  uploadBulkSave: () => salesforce().uploadBulkSave("750000000000001AAA", [record]),
  startBulkSave: () => salesforce().startBulkSave("750000000000001AAA"),
  abortBulkSave: () => salesforce().abortBulkSave("750000000000001AAA"),
  pollBulkSave: () => salesforce().pollBulkSave("750000000000001AAA"),
  bulkSaved: async () => drained(await salesforce().bulkSaved("750000000000001AAA", "successful")),
});

async function drained(stream: AsyncIterable<unknown>): Promise<number> {
  let pieces = 0;
  for await (const _ of stream) pieces += 1;
  return pieces;
}

/** Every call before an org is connected. */
export const loginCalls = (url: () => string): Calls<OrgLogin> => ({
  logIn: () => orgLogin.logIn(url(), orgConnection(url(), null).credentials, new Date()),
  exchangeCode: () => {
    const app = { clientId: "id", clientSecret: null, redirectUri: "http://localhost/callback", codeVerifier: "v" };
    return orgLogin.exchangeCode({ loginUrl: url(), ...app }, "code");
  },
  identify: () =>
    orgLogin.identify({
      accessToken: "00Dxx0000001gPL!secret",
      instanceUrl: url(),
      refreshToken: null,
      userId: null,
      organizationId: null,
    }),
  versions: () => orgLogin.versions(url()),
});
