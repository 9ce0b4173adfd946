import { CallMeter } from "../../lib/adapters/salesforce/call-meter.ts";
import { usageReader } from "../../lib/adapters/salesforce/describe/connected-org.ts";
import { listObjects } from "../../lib/adapters/salesforce/describe/describe-objects.ts";
import { orgLogin } from "../../lib/adapters/salesforce/session/log-in.ts";
import { requestToken } from "../../lib/adapters/salesforce/session/request-token.ts";
import type { Operation, OutgoingRecord } from "../../lib/model/record/record.ts";
import type { SalesforceConnection } from "../../lib/model/workspace/workspace.ts";
import type { Salesforce } from "../../lib/sync/ports/cycle-ports.ts";
import type { Sessions } from "../../lib/sync/ports/session-ports.ts";

/** What a call of ours needs. */
interface Needs {
  readonly salesforce: Salesforce;
  readonly sessions: Sessions;
  readonly connection: SalesforceConnection;
  /** How many records or parts the answer holds, where the request must have as many. */
  readonly answer: {
    readonly records?: number;
    readonly parts?: readonly unknown[];
    /** What a save sends. */
    readonly operation?: Operation;
    readonly sent?: readonly OutgoingRecord[];
  };
}

/** One call of ours, after the requests that it may send: `GET queryAll?q=` is below the versioned base. */
export type Ask = readonly [sends: RegExp, ask: (needs: Needs) => Promise<unknown>];

const FROM = new Date("2026-11-20T12:00:00Z");
const JOB = "750ak000009Dl5bAAC";
const SOQL = "SELECT Id FROM Account";
const SOAP = /^POST \/services\/Soap\/u\/66\.0$/;
const TOKEN = /^POST \/services\/oauth2\/token$/;

const sends = (method: string, path: string) => new RegExp(`^${method} /services/data/v66\\.0/${path}`);

const save = (operation: Operation): Ask => [
  SOAP,
  async ({ salesforce, answer: { records = 1 } }) => {
    const sent = Array.from({ length: records }, () => ({ id: "001ak00000OQTieAAH", values: { Name: "Acme" } }));
    return (await salesforce.write(operation, "Account", sent, "External_Id__c")).results;
  },
];

const file = (kind: "successful" | "failed" | "unprocessed", path: string): Ask => [
  sends("GET", `jobs/ingest/${JOB}/${path}$`),
  async ({ salesforce }) => (await allOf(await salesforce.bulkSaved(JOB, kind))).flat(),
];

async function allOf<Piece>(pieces: AsyncIterable<Piece>): Promise<readonly Piece[]> {
  const all: Piece[] = [];
  for await (const piece of pieces) all.push(piece);
  return all;
}

/** The calls that a recorded answer may be for. */
export const ASKS: Readonly<Record<string, Ask>> = {
  query: [sends("GET", "queryAll\\?q="), ({ salesforce }) => salesforce.query(SOQL)],
  together: [
    sends("POST", "composite$"),
    ({ salesforce, answer: { parts = [] } }) => salesforce.queryTogether(parts.map(() => SOQL)),
  ],
  recordCount: [
    sends("GET", "limits/recordCount\\?sObjects=Account$"),
    ({ salesforce }) => salesforce.recordCount("Account"),
  ],
  deleted: [
    sends("GET", "sobjects/Account/deleted/\\?start="),
    ({ salesforce }) => salesforce.deleted("Account", FROM, FROM),
  ],
  describe: [sends("GET", "sobjects/Account/describe$"), ({ salesforce }) => salesforce.describe("Account")],
  objects: [sends("GET", "sobjects$"), ({ sessions }) => listObjects({ sessions, meter: new CallMeter() })],
  limits: [
    sends("GET", "limits$"),
    ({ sessions }) => usageReader({ sessionsOf: () => sessions, countCalls: async () => {} })("ws"),
  ],
  openQueryJob: [sends("POST", "jobs/query$"), ({ salesforce }) => salesforce.startBulkQuery(SOQL)],
  queryJob: [sends("GET", `jobs/query/${JOB}$`), ({ salesforce }) => salesforce.bulkQueryRecords(JOB)],
  queryResults: [
    sends("GET", `jobs/query/${JOB}/results\\?maxRecords=`),
    async ({ salesforce }) => {
      const { pieces, next } = await salesforce.bulkResults(JOB, null);
      return { next, lines: (await allOf(pieces)).flatMap(({ lines }) => lines) };
    },
  ],
  openSaveJob: [
    sends("POST", "jobs/ingest$"),
    ({ salesforce }) => salesforce.openBulkSave("upsert", "Opportunity", "external_id__c"),
  ],
  startSaveJob: [sends("PATCH", `jobs/ingest/${JOB}$`), ({ salesforce }) => salesforce.startBulkSave(JOB)],
  saveJob: [sends("GET", `jobs/ingest/${JOB}$`), ({ salesforce }) => salesforce.pollBulkSave(JOB)],
  successful: file("successful", "successfulResults"),
  failed: file("failed", "failedResults"),
  unprocessed: file("unprocessed", "unprocessedrecords"),
  create: save("create"),
  update: save("update"),
  upsert: save("upsert"),
  delete: save("delete"),
  save: [
    SOAP,
    ({ salesforce, answer: { operation = "update", sent = [] } }) =>
      salesforce.write(operation, "Account", sent, "External_Id__c"),
  ],
  token: [TOKEN, ({ connection }) => requestToken(connection, FROM)],
  logIn: [TOKEN, ({ connection: { loginUrl, credentials } }) => orgLogin.logIn(loginUrl, credentials, FROM)],
  userinfo: [
    /^GET \/services\/oauth2\/userinfo$/,
    ({ connection: { instanceUrl } }) =>
      orgLogin.identify({ instanceUrl, accessToken: "00Dx!y", refreshToken: null, organizationId: null, userId: null }),
  ],
  versions: [/^GET \/services\/data$/, ({ connection: { instanceUrl } }) => orgLogin.versions(instanceUrl)],
};
