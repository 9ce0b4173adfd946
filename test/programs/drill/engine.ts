import { randomUUID } from "node:crypto";
import { connectOrg } from "../../../lib/adapters/salesforce/connect-org.ts";
import { connectedOrg, usageReader } from "../../../lib/adapters/salesforce/describe/connected-org.ts";
import { orgReach } from "../../../lib/adapters/salesforce/org-reach.ts";
import { orgLogin } from "../../../lib/adapters/salesforce/session/log-in.ts";
import { newestCommonVersion } from "../../../lib/model/api-version.ts";
import { SalesforceRefusal } from "../../../lib/model/change/refusal.ts";
import { Failure } from "../../../lib/model/failure.ts";
import type { SalesforceConnection } from "../../../lib/model/workspace/workspace.ts";
import { guardConnections } from "../../../lib/network/guarded-dns.ts";
import type { Salesforce } from "../../../lib/sync/ports/cycle-ports.ts";
import { type Door, MARK, type Seen } from "./door.ts";
import { queryByBulk, saveByBulk } from "./engine-bulk.ts";
import { askForDeletes, readRecords, restore } from "./engine-reads.ts";
import { type Interview, saveBySoap } from "./engine-saves.ts";

guardConnections(() => null);

/** What the engine's client got from an org. */
export interface Heard {
  readonly seen: ReadonlyMap<string, Seen>;
  /** Methods of the client that nothing asked. */
  readonly unasked: readonly string[];
  readonly key: string | null;
}

/** The newest API version that the service and an org know; both orgs are asked in that of the real one. */
export async function versionOf({ url }: Door): Promise<string> {
  const version = newestCommonVersion(await orgLogin.versions(url));
  if (version === null) throw new Error(`${url} speaks no version that Bridge knows`);
  return version;
}

/** Asks an org by every method of the engine's client, on records that it makes; the caller sweeps up. */
export async function askEngine(door: Door, apiVersion: string, mark: string): Promise<Heard> {
  const connection = await connectionOf(door, apiVersion);
  const sessions = { current: async () => connection, renew: async () => Promise.reject(new Error("it has ended")) };
  const { client, unasked } = watched(connectOrg(sessions, new AbortController().signal));
  const seen = new Map<string, Seen>();
  const account = await client.describe("Account").catch(() => null);
  const key = account?.fields.find((field) => field.externalId && field.unique && field.createable)?.name ?? null;
  const interview: Interview = {
    ...{ door, salesforce: client, connection, mark, key },
    tell: async (name, work, shown = (answer) => answer) => {
      try {
        const answer = await work();
        seen.set(name, { status: "answered", body: plain(shown(answer)) });
        return answer;
      } catch (error) {
        seen.set(name, { status: "refused", body: refusalIn(error) });
        return null;
      }
    },
  };
  await askAround(interview);
  const made = await saveBySoap(interview);
  await readRecords(interview);
  await queryByBulk(interview);
  await saveByBulk(interview, made);
  await restore(interview, made);
  await askForDeletes(interview, made);
  await interview.tell("counted calls", async () => client.calls());
  await interview.tell("usage, as of the answers", async () => client.usage());
  return { seen, unasked: unasked(), key };
}

/** What an operator, or the engine, would get; anything else is a fault of the drill. */
function refusalIn(error: unknown): object {
  if (error instanceof Failure) return { code: error.code, message: error.message };
  if (!(error instanceof SalesforceRefusal)) throw error;
  const { kind, code, message, mayHaveRun } = error.refusal;
  return { kind, code, message, mayHaveRun };
}

/** A name for all records of one drill. */
export const newMark = (): string => `${MARK} ${randomUUID().slice(0, 8)}`;

const sessionAt = (instanceUrl: string, accessToken: string) =>
  ({ instanceUrl, accessToken, refreshToken: null, userId: null, organizationId: null }) as const;

/** A connection whose session is the door's; nothing renews it. */
export async function connectionOf({ url, token }: Door, apiVersion: string): Promise<SalesforceConnection> {
  const { organizationId, userId } = await orgLogin.identify(sessionAt(url, token));
  const to = { loginUrl: url, instanceUrl: url, organizationId, userId, formerUserIds: [], apiVersion };
  const credentials = { kind: "refresh_token", clientId: "drill", clientSecret: null, refreshToken: "none" } as const;
  return { ...to, credentials, accessToken: token };
}

/** What is asked beside a cycle: who one is, what there is, how much is left. */
async function askAround({ connection, salesforce, tell }: Interview): Promise<void> {
  const { instanceUrl, accessToken } = connection;
  await tell(
    "versions",
    () => orgLogin.versions(instanceUrl),
    (versions) => versions.slice(-1),
  );
  await tell("identify", () => orgLogin.identify(sessionAt(instanceUrl, accessToken ?? "")));
  await tell("reach", () => orgReach(() => new Date()).isReachable(connection));
  const needs = {
    sessionsOf: () => ({ current: async () => connection, renew: async () => connection }),
    countCalls: async () => undefined,
  };
  const workspace = { id: "drill" } as Parameters<ReturnType<typeof connectedOrg>["objects"]>[0];
  await tell(
    "objects",
    () => connectedOrg(needs).objects(workspace),
    (all) => byName(all, ["Account", "Contact"]),
  );
  await tell(
    "limits",
    () => usageReader(needs)("drill"),
    ({ used, limit, at }) => ({ used, limit, at }),
  );
  for (const [object, fields] of Object.entries(FIELDS))
    await tell(
      `describe ${object}`,
      () => salesforce.describe(object),
      ({ name, queryable, fields: all }) => ({ name, queryable, fields: byName(all, fields) }),
    );
  await tell("describe of no object", () => salesforce.describe("Bogus__c"));
}

/** Standard fields that every org has, one of each kind that the engine treats differently. */
const FIELDS = {
  Account: "Id IsDeleted MasterRecordId Name AnnualRevenue NumberOfEmployees Description Website".split(" "),
  Contact: "Id SystemModstamp AccountId LastName Name Email Birthdate HasOptedOutOfEmail".split(" "),
};

function byName<Named extends { readonly name: string }>(all: readonly Named[], names: readonly string[]) {
  return Object.fromEntries(all.filter(({ name }) => names.includes(name)).map((named) => [named.name, named]));
}

/** As JSON has it: times are texts, and what is undefined is not there. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

/** A client that keeps which of its methods were called. */
function watched(salesforce: Salesforce) {
  const asked = new Set<PropertyKey>();
  const client = new Proxy(salesforce, {
    get: (target, name) => {
      asked.add(name);
      return Reflect.get(target, name);
    },
  });
  return { client, unasked: () => Object.keys(salesforce).filter((name) => !asked.has(name)) };
}
