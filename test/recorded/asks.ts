import { CallMeter } from "../../lib/adapters/salesforce/call-meter.ts";
import { usageReader } from "../../lib/adapters/salesforce/describe/connected-org.ts";
import { listObjects } from "../../lib/adapters/salesforce/describe/describe-objects.ts";
import { orgLogin } from "../../lib/adapters/salesforce/session/log-in.ts";
import { requestToken } from "../../lib/adapters/salesforce/session/request-token.ts";
import type { CsvLine } from "../../lib/model/record/csv-line.ts";
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

/** One call of ours, and the requests that it may send. */
export interface Ask {
  readonly sends: RegExp;
  readonly ask: (needs: Needs) => Promise<unknown>;
}

const FROM = new Date("2026-11-20T12:00:00Z");
const JOB = "750ak000009Dl5bAAC";
const SOQL = "SELECT Id FROM Account";
const SOAP = /^POST \/services\/Soap\/u\/66\.0$/;

const save = (operation: Operation): Ask => ({
  sends: SOAP,
  ask: async ({ salesforce, answer: { records = 1 } }) => {
    const record = { id: "001ak00000OQTieAAH", values: { Name: "Acme" } };
    const sent = Array.from({ length: records }, () => record);
    return (await salesforce.write(operation, "Account", sent, "External_Id__c")).results;
  },
});

const file = (kind: "successful" | "failed" | "unprocessed", path: string): Ask => ({
  sends: new RegExp(`^GET /services/data/v66\\.0/jobs/ingest/${JOB}/${path}$`),
  ask: async ({ salesforce }) => {
    const lines: CsvLine[] = [];
    for await (const batch of await salesforce.bulkSaved(JOB, kind)) lines.push(...batch);
    return lines;
  },
});

const get = (path: string): RegExp => new RegExp(`^GET /services/data/v66\\.0/${path}`);

/** The calls that a recorded answer may be for. */
export const ASKS: Readonly<Record<string, Ask>> = {
  query: { sends: get("queryAll\\?q="), ask: ({ salesforce }) => salesforce.query(SOQL) },
  together: {
    sends: /^POST \/services\/data\/v66\.0\/composite$/,
    ask: ({ salesforce, answer: { parts = [] } }) => salesforce.queryTogether(parts.map(() => SOQL)),
  },
  recordCount: {
    sends: get("limits/recordCount\\?sObjects=Account$"),
    ask: ({ salesforce }) => salesforce.recordCount("Account"),
  },
  deleted: {
    sends: get("sobjects/Account/deleted/\\?start="),
    ask: ({ salesforce }) => salesforce.deleted("Account", FROM, FROM),
  },
  describe: { sends: get("sobjects/Account/describe$"), ask: ({ salesforce }) => salesforce.describe("Account") },
  objects: {
    sends: get("sobjects$"),
    ask: ({ sessions }) => listObjects({ sessions, meter: new CallMeter() }),
  },
  limits: {
    sends: get("limits$"),
    ask: ({ sessions }) => usageReader({ sessionsOf: () => sessions, countCalls: async () => {} })("ws"),
  },
  openQueryJob: {
    sends: /^POST \/services\/data\/v66\.0\/jobs\/query$/,
    ask: ({ salesforce }) => salesforce.startBulkQuery(SOQL),
  },
  queryJob: { sends: get(`jobs/query/${JOB}$`), ask: ({ salesforce }) => salesforce.bulkQueryRecords(JOB) },
  queryResults: {
    sends: get(`jobs/query/${JOB}/results\\?maxRecords=`),
    ask: async ({ salesforce }) => {
      const { pieces, next } = await salesforce.bulkResults(JOB, null);
      const lines: CsvLine[] = [];
      for await (const piece of pieces) lines.push(...piece.lines);
      return { next, lines };
    },
  },
  openSaveJob: {
    sends: /^POST \/services\/data\/v66\.0\/jobs\/ingest$/,
    ask: ({ salesforce }) => salesforce.openBulkSave("upsert", "Opportunity", "external_id__c"),
  },
  startSaveJob: {
    sends: new RegExp(`^PATCH /services/data/v66\\.0/jobs/ingest/${JOB}$`),
    ask: ({ salesforce }) => salesforce.startBulkSave(JOB),
  },
  saveJob: { sends: get(`jobs/ingest/${JOB}$`), ask: ({ salesforce }) => salesforce.pollBulkSave(JOB) },
  successful: file("successful", "successfulResults"),
  failed: file("failed", "failedResults"),
  unprocessed: file("unprocessed", "unprocessedrecords"),
  create: save("create"),
  update: save("update"),
  upsert: save("upsert"),
  delete: save("delete"),
  save: {
    sends: SOAP,
    ask: ({ salesforce, answer: { operation = "update", sent = [] } }) =>
      salesforce.write(operation, "Account", sent, "External_Id__c"),
  },
  token: { sends: /^POST \/services\/oauth2\/token$/, ask: ({ connection }) => requestToken(connection, FROM) },
  logIn: {
    sends: /^POST \/services\/oauth2\/token$/,
    ask: ({ connection: { loginUrl, credentials } }) => orgLogin.logIn(loginUrl, credentials, FROM),
  },
  userinfo: {
    sends: /^GET \/services\/oauth2\/userinfo$/,
    ask: ({ connection: { instanceUrl } }) =>
      orgLogin.identify({ instanceUrl, accessToken: "00Dx!y", refreshToken: null, organizationId: null, userId: null }),
  },
  versions: {
    sends: /^GET \/services\/data$/,
    ask: ({ connection: { instanceUrl } }) => orgLogin.versions(instanceUrl),
  },
};
