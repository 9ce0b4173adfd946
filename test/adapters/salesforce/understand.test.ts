import { expect, test } from "vitest";
import { loginCalls } from "../../support/doubles/org-calls.ts";
import { aLyingOrg, engine, org, refusalOf } from "./lying.ts";

aLyingOrg();

const OTHER_JSON = JSON.stringify({ records: { secret: "value" }, deletedRecords: 7 });
const OTHER_XML = `<?xml version="1.0"?><soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"
  xmlns="urn:partner.soap.sforce.com"><soapenv:Body><updateResponse><outcome>secret</outcome>
  </updateResponse></soapenv:Body></soapenv:Envelope>`;

test.each([
  ["query", "a query", "records, done"],
  ["queryTogether", "a composite", "compositeResponse"],
  ["recordCount", "the record counts", "sObjects"],
  ["deleted", "getDeleted", "deletedRecords"],
  ["describe", "a describe", "name"],
  ["startBulkQuery", "making a job of the Bulk API", "id, state"],
  ["pollBulkSave", "the state of a job of the Bulk API", "id, state"],
] as const)(
  "%s that is answered in another shape is a refusal that names the places and no value",
  async (call, asked, places) => {
    org.answer((response) => response.setHeader("content-type", "application/json").end(OTHER_JSON));

    const refusal = await refusalOf(engine[call]());

    expect(refusal).toMatchObject({ kind: "transient", code: "BROKEN_ANSWER", mayHaveRun: true });
    expect(refusal.message).toContain(`${asked} was answered in a shape that is not Salesforce's (wrong: ${places}`);
    expect(refusal.message).not.toContain("secret");
  },
);

test("a save by SOAP that is answered without its results is in doubt", async () => {
  org.answer((response) => response.setHeader("content-type", "text/xml").end(OTHER_XML));

  expect(await refusalOf(engine.write())).toMatchObject({
    ...{ kind: "transient", code: "BROKEN_ANSWER", mayHaveRun: true },
    message: expect.stringContaining("update of 1 Account records was answered with 0 results"),
  });
});

test("a query job that a person aborts is refused for good, and a job that the org has forgotten is gone", async () => {
  const job = { id: "750000000000001AAA", state: "Aborted" };
  org.answer((response) => response.setHeader("content-type", "application/json").end(JSON.stringify(job)));
  expect(await refusalOf(engine.bulkQueryRecords())).toMatchObject({ kind: "bug", message: "the job is Aborted" });

  org.answer((response) => response.writeHead(404).end('[{"errorCode":"NOT_FOUND","message":"not there"}]'));
  expect(await engine.pollBulkSave()).toMatchObject({ state: "gone", message: expect.stringContaining("not there") });
});

test("results of a query without the header that says whether more follow are refused", async () => {
  org.answer((response) => response.setHeader("content-type", "text/csv").end("Id\n"));

  expect(await refusalOf(engine.bulkResults())).toMatchObject({
    ...{ kind: "transient", code: "BROKEN_ANSWER", message: expect.stringContaining("Sforce-Locator") },
  });
});

test.each(Object.entries(loginCalls(() => org.url)))(
  "%s at a host that is no Salesforce org says so, and nothing of the answer",
  async (_, ask) => {
    for (const text of ['{"status": "ok", "token": "a-secret"}', "It works! a-secret", ""]) {
      org.answer((response) => response.end(text));

      const message = `${new URL(org.url).host} does not answer like a Salesforce org`;
      expect(await refusalOf(ask())).toMatchObject({
        kind: "transient",
        code: "NOT_SALESFORCE",
        message,
        mayHaveRun: false,
      });
    }
  },
);
