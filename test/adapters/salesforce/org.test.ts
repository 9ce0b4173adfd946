import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { connectOrg } from "../../../lib/adapters/salesforce/connect-org.ts";
import { sessionsOf } from "../../../lib/adapters/salesforce/session/sessions.ts";
import { type Org, startOrg } from "../../../lib/local/org/start-org.ts";
import { SalesforceRefusal } from "../../../lib/model/change/refusal.ts";
import { valueIn } from "../../../lib/model/record/csv-line.ts";
import { type SalesforceConnection, writersOf } from "../../../lib/model/workspace/workspace.ts";
import type { Salesforce } from "../../../lib/sync/ports/cycle-ports.ts";
import type { ConnectionStore, Sessions } from "../../../lib/sync/ports/session-ports.ts";
import { failureOf } from "../../../lib/sync/report/cycle-failure.ts";

const folder = mkdtempSync(join(tmpdir(), "bridge-org-"));
let org: Org;
let store: ReturnType<typeof keptInMemory>;
let salesforce: Salesforce;
beforeAll(async () => {
  org = await startOrg({ dataDir: folder, controls: true });
});
afterAll(async () => {
  await org.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  await control("DELETE", "faults");
  await control("DELETE", "requests");
  store = keptInMemory(connectionOf(org));
  salesforce = connectOrg(sessions(), new AbortController().signal);
});

const sessions = (): Sessions => sessionsOf({ connections: store, now: () => new Date() }, "ws");

async function control(method: string, name: string, body?: unknown): Promise<unknown> {
  const response = await fetch(`${org.url}/_sim/${name}`, {
    method,
    headers: { authorization: `Bearer ${org.accessToken}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return text === "" ? null : JSON.parse(text);
}
const order = (fault: object) => control("POST", "faults", fault);
const requests = async () => (await control("GET", "requests")) as { path: string; api: string }[];
const used = async () => ((await control("GET", "calls")) as { used: number }).used;

function connectionOf({ url, organizationId, clientId, clientSecret, username, password }: Org): SalesforceConnection {
  const credentials = { kind: "password", clientId, clientSecret, username, password } as const;
  const to = { loginUrl: url, instanceUrl: url, organizationId, userId: "", formerUserIds: [], apiVersion: "66.0" };
  return { ...to, credentials, accessToken: null };
}

/** A workspace's connection and its claims, as long as this test runs. */
function keptInMemory(
  connection: SalesforceConnection,
): ConnectionStore & { readonly current: () => SalesforceConnection } {
  let kept = { connection, version: "0" };
  let claimedUntil = new Date(0);
  return {
    current: () => kept.connection,
    read: async () => ({ ...kept, renewalUntil: null }),
    claimRenewal: async (_, { version }, now, until) => {
      if (version !== kept.version || claimedUntil > now) return false;
      claimedUntil = until;
      return true;
    },
    abandonRenewal: async () => {
      claimedUntil = new Date(0);
    },
    keep: async (_, version, renewed) => {
      if (version !== kept.version) return;
      kept = { connection: renewed, version: String(Number(version) + 1) };
      claimedUntil = new Date(0);
    },
  };
}

async function refusalOf(work: Promise<unknown>): Promise<SalesforceRefusal["refusal"]> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof SalesforceRefusal)) throw new Error(`it was not refused, but: ${String(error)}`);
  return error.refusal;
}

/** An address at which no server listens any more. */
async function unusedAddress(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return `http://127.0.0.1:${port}`;
}

const ACCOUNTS = "SELECT Id, Name FROM Account";
const record = (Name: string) => ({ id: null, values: { Name } });

describe("a call", () => {
  test("goes through our own transport, which jsforce must keep asking", async () => {
    await salesforce.query(ACCOUNTS);
    await salesforce.write("create", "Account", [record("Acme")], null);

    expect(salesforce.calls()).toEqual({ REST: 1, SOAP: 1 });
  });

  test("is counted once under its label, as the org counts it", async () => {
    const before = await used();
    await salesforce.queryTogether([ACCOUNTS, ACCOUNTS]);
    await salesforce.query(`${ACCOUNTS} WHERE Name IN (${Array(600).fill("'a longer name'").join(",")})`);
    await salesforce.describe("Account");
    await refusalOf(salesforce.query("SELECT Nothing FROM Account"));

    expect(salesforce.calls()).toEqual({ COMPOSITE: 2, REST: 2 });
    expect((await used()) - before).toBe(4);
    expect(salesforce.usage()).toMatchObject({ used: await used() });
  });

  test("is never repeated automatically, whatever the org says", async () => {
    await salesforce.query(ACCOUNTS);
    await control("DELETE", "requests");
    await order({ kind: "unavailable", times: 0 });

    expect(await refusalOf(salesforce.query(ACCOUNTS))).toMatchObject({ kind: "transient" });
    expect((await requests()).filter(({ api }) => api === "REST")).toHaveLength(1);
  });

  test.each([
    ["a reset in the middle of the answer", { kind: "resetInBody" }],
    ["a reset instead of the answer", { kind: "resetBeforeAnswer" }],
  ])("that ends in %s may have run, and says so", async (_, fault) => {
    await salesforce.query(ACCOUNTS);
    await order(fault);

    const refusal = await refusalOf(salesforce.write("create", "Account", [record("Acme")], null));

    expect(refusal).toMatchObject({ kind: "transient", code: "BROKEN_ANSWER", mayHaveRun: true });
  });

  test.each([
    ["a read", () => salesforce.query(ACCOUNTS)],
    ["a save", () => salesforce.write("create", "Account", [record("Acme")], null)],
    ["a job", () => salesforce.startBulkQuery(ACCOUNTS)],
    ["a job's results", () => salesforce.bulkResults("750000000000001AAA", null)],
    ["a job's records", () => salesforce.uploadBulkSave("750000000000001AAA", [])],
  ])("that is answered with a web page says who answered, and is no fault of ours: %s", async (_, ask) => {
    await salesforce.query(ACCOUNTS);
    const counted = salesforce.calls();
    await order({ kind: "webPage" });

    const refusal = await refusalOf(ask());

    expect(refusal).toMatchObject({ kind: "transient", code: "NOT_SALESFORCE", mayHaveRun: true });
    expect(refusal.message).toContain(`${new URL(org.url).host} answered /services/`);
    expect(refusal.message).toContain('a web page titled "Login | Salesforce"');
    expect(refusal.message).not.toMatch(/<|SELECT/);
    expect(salesforce.calls()).toEqual(counted);
  });

  test("for results of a Bulk query is refused where nothing shows whether more follow", async () => {
    const { jobId } = await salesforce.startBulkQuery(ACCOUNTS);
    await vi.waitFor(async () => expect(await salesforce.bulkQueryRecords(jobId)).not.toBeNull(), { timeout: 300_000 });
    const whole = await salesforce.bulkResults(jobId, null);
    await order({ kind: "missingLocator" });

    expect(whole.next).toBeNull();
    expect(await refusalOf(salesforce.bulkResults(jobId, null))).toMatchObject({
      kind: "transient",
      code: "BROKEN_ANSWER",
      message: expect.stringContaining("Sforce-Locator"),
    });
  });

  test("to an org that cannot be reached has not run", async () => {
    const gone = { ...store.current(), instanceUrl: await unusedAddress(), accessToken: "00Dx!y" };
    const alone = connectOrg(
      sessionsOf({ connections: keptInMemory(gone), now: () => new Date() }, "ws"),
      new AbortController().signal,
    );

    expect(await refusalOf(alone.query(ACCOUNTS))).toMatchObject({ code: "UNREACHABLE", mayHaveRun: false });
    expect(alone.calls()).toEqual({});
  });

  test("that reads is broken off when its cycle ends", async () => {
    const stop = new AbortController();
    const stopped = connectOrg(sessions(), stop.signal);
    await stopped.query(ACCOUNTS);
    await order({ kind: "hang", milliseconds: 60_000 });

    const asked = refusalOf(stopped.query(ACCOUNTS));
    stop.abort();

    expect(await asked).toMatchObject({ code: "ABORTED" });
  });
});

describe("a session", () => {
  test("is had once by many calls at once", async () => {
    await Promise.all(Array.from({ length: 8 }, () => salesforce.query(ACCOUNTS)));

    const logins = (await requests()).filter(({ api }) => api === "OAUTH");
    expect(logins).toHaveLength(1);
    expect(store.current().userId).toMatch(/^005/);
  });

  test("that speaks for another user keeps the earlier users in whose name was written", async () => {
    store = keptInMemory({ ...connectionOf(org), userId: "005000000000002AAA", formerUserIds: ["005000000000001AAA"] });
    salesforce = connectOrg(sessions(), new AbortController().signal);

    await salesforce.query(ACCOUNTS);

    expect(writersOf(store.current())).toEqual([org.userId, "005000000000002AAA", "005000000000001AAA"]);
  });

  test("that has ended is renewed by one of many invocations, and the others use it", async () => {
    await salesforce.query(ACCOUNTS);
    await control("DELETE", "sessions");
    await control("DELETE", "requests");
    const invocations = Array.from({ length: 4 }, () => connectOrg(sessions(), new AbortController().signal));

    await Promise.all(invocations.map((invocation) => invocation.query(ACCOUNTS)));

    expect((await requests()).filter(({ api }) => api === "OAUTH")).toHaveLength(1);
  });

  test("that is refused twice in a row is refused, without asking for ever", async () => {
    await salesforce.query(ACCOUNTS);
    // Logins go well: it is the call that is refused, whatever the session.
    await order({ kind: "expiredSession", times: 20, path: "services/data/v" });
    await control("DELETE", "requests");

    expect(await refusalOf(salesforce.query(ACCOUNTS))).toMatchObject({ kind: "session", code: "INVALID_SESSION_ID" });
    expect((await requests()).map(({ api }) => api)).toEqual(["REST", "OAUTH", "REST"]);
  });

  test("that cannot be renewed says what to do", async () => {
    const { credentials, ...rest } = connectionOf(org);
    const wrong = keptInMemory({ ...rest, credentials: { ...credentials, password: "wrong" } as typeof credentials });
    const refusing = connectOrg(
      sessionsOf({ connections: wrong, now: () => new Date() }, "ws"),
      new AbortController().signal,
    );

    const refusal = await refusalOf(refusing.query(ACCOUNTS));

    expect(refusal).toMatchObject({ kind: "session" });
    expect(failureOf(new SalesforceRefusal(refusal))).toEqual({
      reason: "salesforce_authorization",
      message: "invalid_grant: authentication failure",
      remedy: expect.stringContaining("check user name, password and security token"),
    });
  });
});

describe("values", () => {
  test("arrive with the digits that Salesforce wrote, and text as it is", async () => {
    const text = 'a "quote" & <tag>,\r\nanother line; ünïcödé 🎈 \\ end';
    const { results } = await salesforce.write(
      "create",
      "Opportunity",
      [
        {
          id: null,
          values: {
            Name: "Exact",
            StageName: "Prospecting",
            CloseDate: "2026-02-03",
            Amount: "1234567890.10",
            Description: text,
          },
        },
      ],
      null,
    );

    const { records } = await salesforce.query(
      `SELECT Id, Amount, CloseDate, Description FROM Opportunity WHERE Id = '${results[0]?.id}'`,
    );

    expect(results[0]).toMatchObject({ success: true });
    expect(records[0]).toMatchObject({
      Description: text,
      Amount: "1.2345678901E9",
      CloseDate: "2026-02-03",
    });
  });

  test("that are null are cleared", async () => {
    const made = await salesforce.write("create", "Account", [{ id: null, values: { Name: "N", Phone: "1" } }], null);
    const id = made.results[0]?.id ?? "";

    await salesforce.write("update", "Account", [{ id, values: { Phone: null } }], null);

    const { records } = await salesforce.query(`SELECT Phone FROM Account WHERE Id = '${id}'`);
    expect(records[0]).toMatchObject({ Phone: null });
  });

  test("that are refused say why, each record for itself", async () => {
    const { results } = await salesforce.write("create", "Account", [record(""), record("Good")], null);

    expect(results.map(({ success }) => success)).toEqual([false, true]);
    expect(results[0]?.errors).toMatchObject([{ code: "REQUIRED_FIELD_MISSING", fields: ["Name"] }]);
  });
});

describe("a job that saves records", () => {
  const texts = ['a "quoted", text', "two\nlines\r\n", "Ünïcødé 😀", "=1+1"];
  const records = texts.map((Name) => ({ id: null, values: { Name, Industry: null } }));

  async function saved(): Promise<string> {
    const jobId = await salesforce.openBulkSave("create", "Account", null);
    await salesforce.uploadBulkSave(jobId, records);
    await salesforce.startBulkSave(jobId);
    while ((await salesforce.pollBulkSave(jobId)).state === "working");
    return jobId;
  }

  const read = async (jobId: string) => {
    const records: Readonly<Record<string, string | undefined>>[] = [];
    for await (const lines of await salesforce.bulkSaved(jobId, "successful")) {
      for (const line of lines) records.push(Object.fromEntries(line.names.map((name) => [name, valueIn(line, name)])));
    }
    return records;
  };

  test("uploads values as they are and shows each record's id beside them, every request counted as BULK", async () => {
    await salesforce.query(ACCOUNTS);
    const before = await used();

    const lines = await read(await saved());

    expect(lines.map(({ Name }) => Name).toSorted()).toEqual(texts.toSorted()); // Salesforce promises no order
    expect(lines[0]).toMatchObject({ sf__Id: expect.stringMatching(/^001/), sf__Created: "true" });
    const { BULK = 0 } = salesforce.calls();
    expect((await used()) - before).toBe(BULK);
  });

  test("is uploaded again whole when the session has ended meanwhile", async () => {
    const jobId = await salesforce.openBulkSave("create", "Account", null);
    await order({ kind: "expiredSession", path: "PUT .*/batches" });

    await salesforce.uploadBulkSave(jobId, records);
    await salesforce.startBulkSave(jobId);
    while ((await salesforce.pollBulkSave(jobId)).state === "working");

    expect(await salesforce.pollBulkSave(jobId)).toMatchObject({ state: "complete", processed: 4, failed: 0 });
  });

  test("that the org has forgotten is gone, which is no error", async () => {
    expect(await salesforce.pollBulkSave("7500000000000009AA")).toMatchObject({ state: "gone" });
  });

  test("whose results break off half way may be asked for them again", async () => {
    const jobId = await saved();
    await order({ kind: "resetInBody", path: "GET .*/successfulResults" });

    expect(await refusalOf(read(jobId))).toMatchObject({ kind: "transient", code: "BROKEN_ANSWER" });
    expect(await read(jobId)).toHaveLength(4);
  });
});
