import { createServer } from "node:net";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { connectOrg } from "../../../lib/adapters/salesforce/connect-org.ts";
import { sessionsOf } from "../../../lib/adapters/salesforce/session/sessions.ts";
import { type SalesforceConnection, writersOf } from "../../../lib/model/workspace/workspace.ts";
import type { Salesforce } from "../../../lib/sync/ports/cycle-ports.ts";
import type { ConnectionStore } from "../../../lib/sync/ports/session-ports.ts";
import { type ConnectedOrg, startConnectedOrg } from "../../support/worlds/connected-org.ts";
import { listen } from "../listen.ts";
import { refusalOf } from "./lying.ts";

let org: ConnectedOrg;
let kept: SalesforceConnection;
let salesforce: Salesforce;
beforeAll(async () => {
  org = await startConnectedOrg({ controls: true });
});
afterAll(() => org.close());
beforeEach(async () => {
  await org.control("DELETE", "/faults");
  await org.control("DELETE", "/requests");
  salesforce = connected(org.connection);
});

/** A client whose connection is kept as long as the test runs. */
function connected(connection: SalesforceConnection, stop = new AbortController().signal): Salesforce {
  kept = connection;
  const connections: ConnectionStore = {
    read: async () => ({ connection: kept, version: kept.accessToken ?? "", renewalUntil: null }),
    claimRenewal: async () => true,
    abandonRenewal: async () => undefined,
    keep: async (_, __, renewed) => {
      kept = renewed;
    },
  };
  return connectOrg(sessionsOf({ connections, now: () => new Date() }, "ws"), stop);
}

const order = (fault: object) => org.control("POST", "/faults", fault);
const requests = async () => (await org.control("GET", "/requests")) as { path: string; api: string }[];
const used = async () => ((await org.control("GET", "/calls")) as { used: number }).used;

/** An address at which no server listens any more. */
async function unusedAddress(): Promise<string> {
  const server = createServer();
  const port = await listen(server);
  await promisify(server.close.bind(server))();
  return `http://127.0.0.1:${port}`;
}

const ACCOUNTS = "SELECT Id, Name FROM Account";
const JOB = "750000000000001AAA";
const query = () => salesforce.query(ACCOUNTS);
const save = () => salesforce.write("create", "Account", [{ id: null, values: { Name: "Acme" } }], null);

describe("a call", () => {
  test("is counted once under its label, as the org counts it", async () => {
    const before = await used();
    await salesforce.queryTogether([ACCOUNTS, ACCOUNTS]);
    await salesforce.query(`${ACCOUNTS} WHERE Name IN (${Array(600).fill("'a longer name'").join(",")})`);
    await salesforce.describe("Account");
    await refusalOf(salesforce.query("SELECT Nothing FROM Account"));
    await save();

    expect(salesforce.calls()).toEqual({ COMPOSITE: 2, REST: 2, SOAP: 1 });
    expect((await used()) - before).toBe(5);
    expect(salesforce.usage()).toMatchObject({ used: await used() });
  });

  test("is never repeated automatically, whatever the org says", async () => {
    await query();
    await org.control("DELETE", "/requests");
    await order({ kind: "unavailable", times: 0 });

    expect(await refusalOf(query())).toMatchObject({ kind: "transient" });
    expect((await requests()).filter(({ api }) => api === "REST")).toHaveLength(1);
  });

  test.each(["resetInBody", "resetBeforeAnswer"])("that ends in a %s may have run, and says so", async (kind) => {
    await query();
    await order({ kind });

    expect(await refusalOf(save())).toMatchObject({ kind: "transient", code: "BROKEN_ANSWER", mayHaveRun: true });
  });

  test.each([
    ["a read", query],
    ["a save", save],
    ["a job", () => salesforce.startBulkQuery(ACCOUNTS)],
    ["a job's results", () => salesforce.bulkResults(JOB, null)],
    ["a job's records", () => salesforce.uploadBulkSave(JOB, [])],
  ])("that is answered with a web page says who answered, and is no fault of ours: %s", async (_, ask) => {
    await query();
    const counted = salesforce.calls();
    await order({ kind: "webPage" });

    const refusal = await refusalOf(ask());

    expect(refusal).toMatchObject({ kind: "transient", code: "NOT_SALESFORCE", mayHaveRun: true });
    expect(refusal.message).toContain(`${new URL(org.connection.instanceUrl).host} answered /services/`);
    expect(refusal.message).toContain('a web page titled "Login | Salesforce"');
    expect(refusal.message).not.toMatch(/<|SELECT/);
    expect(salesforce.calls()).toEqual(counted);
  });

  test("to an org that cannot be reached has not run", async () => {
    const alone = connected({ ...org.connection, instanceUrl: await unusedAddress(), accessToken: "00Dx!y" });

    expect(await refusalOf(alone.query(ACCOUNTS))).toMatchObject({ code: "UNREACHABLE", mayHaveRun: false });
    expect(alone.calls()).toEqual({});
  });

  test("that reads is broken off when its cycle ends", async () => {
    const stop = new AbortController();
    const stopped = connected(org.connection, stop.signal);
    await stopped.query(ACCOUNTS);
    await order({ kind: "hang", milliseconds: 60_000 });

    const asked = refusalOf(stopped.query(ACCOUNTS));
    stop.abort();

    expect(await asked).toMatchObject({ code: "ABORTED" });
  });
});

describe("a session", () => {
  test("is had once by many calls at once, and keeps the earlier users in whose name was written", async () => {
    const former = { userId: "005000000000002AAA", formerUserIds: ["005000000000001AAA"] };
    salesforce = connected({ ...org.connection, ...former });

    await Promise.all(Array.from({ length: 8 }, query));

    expect((await requests()).filter(({ api }) => api === "OAUTH")).toHaveLength(1);
    expect(kept.userId).toMatch(/^005/);
    expect(writersOf(kept)).toEqual([kept.userId, "005000000000002AAA", "005000000000001AAA"]);
  });

  test("that is refused twice in a row is refused, without asking for ever", async () => {
    await query();
    // Logins go well: it is the call that is refused, whatever the session.
    await order({ kind: "expiredSession", times: 20, path: "services/data/v" });
    await org.control("DELETE", "/requests");

    expect(await refusalOf(query())).toMatchObject({ kind: "session", code: "INVALID_SESSION_ID" });
    expect((await requests()).map(({ api }) => api)).toEqual(["REST", "OAUTH", "REST"]);
  });
});

test("a record of a job names each of its parents by that one's own value, also where their fields have one name", async () => {
  await salesforce.write("create", "Account", [{ id: null, values: { Name: "A", External_Id__c: "A-1" } }], null);
  await salesforce.write("create", "Contact", [{ id: null, values: { LastName: "B", External_Id__c: "B-1" } }], null);
  const parents = [
    { reference: "AccountId", relationship: "Account", object: "Account", field: "External_Id__c", value: "A-1" },
    { reference: "ReportsToId", relationship: "ReportsTo", object: "Contact", field: "External_Id__c", value: "B-1" },
  ];
  const jobId = await salesforce.openBulkSave("create", "Contact", null);
  await salesforce.uploadBulkSave(jobId, [{ id: null, values: { LastName: "C" }, parents }]);
  await salesforce.startBulkSave(jobId);
  while ((await salesforce.pollBulkSave(jobId)).state === "working");
  expect(await salesforce.pollBulkSave(jobId)).toMatchObject({ processed: 1, failed: 0 });
});

test("a job is uploaded again whole when its session has ended, and results that break off may be asked for again", async () => {
  const records = ['a "quoted" word', "two", "three", "four"].map((Name) => ({ id: null, values: { Name } }));
  const jobId = await salesforce.openBulkSave("create", "Account", null);
  await order({ kind: "expiredSession", path: "PUT .*/batches" });
  await salesforce.uploadBulkSave(jobId, records);
  await salesforce.startBulkSave(jobId);
  while ((await salesforce.pollBulkSave(jobId)).state === "working");
  const read = async () => {
    let lines = 0;
    for await (const piece of await salesforce.bulkSaved(jobId, "successful")) lines += piece.length;
    return lines;
  };
  await order({ kind: "resetInBody", path: "GET .*/successfulResults" });

  expect(await salesforce.pollBulkSave(jobId)).toMatchObject({ state: "complete", processed: 4, failed: 0 });
  expect(await refusalOf(read())).toMatchObject({ kind: "transient", code: "BROKEN_ANSWER" });
  expect(await read()).toBe(4);
  const quoted = await salesforce.query(`SELECT Name FROM Account WHERE Name LIKE '%quoted%'`);
  expect(quoted.records).toMatchObject([{ Name: 'a "quoted" word' }]);
});
