import { expect, test } from "vitest";
import { startOrg } from "../../../lib/local/org/start-org.ts";
import { temporaryFolder } from "../../support/run/temporary-folder.ts";
import { type Answer, Client, type Json, openOrg } from "./support/open-org.ts";

async function over(org: Client, path: string): Promise<Json> {
  for (;;) {
    const { json } = await org.get(path);
    if (["JobComplete", "Failed", "Aborted"].includes(String(json["state"]))) return json;
  }
}

async function ingest(org: Client, job: object, csv: string): Promise<{ path: string; job: Json }> {
  const created = await org.call("POST", "jobs/ingest", job);
  const path = `jobs/ingest/${created.json["id"]}`;
  await org.call("PUT", `${path}/batches`, csv);
  await org.call("PATCH", path, { state: "UploadComplete" });
  return { path, job: await over(org, path) };
}

async function exported(org: Client, query: string): Promise<{ path: string; job: Json }> {
  const created = await org.call("POST", "jobs/query", { operation: "query", query });
  const path = `jobs/query/${created.json["id"]}`;
  return { path, job: await over(org, path) };
}

test("a job saves its good rows and gives the bad ones' reasons, in no order of the upload, unless a column is unknown", async () => {
  const org = await openOrg();
  const rows = Array.from({ length: 200 }, (_, index) => `"N, ""${index}""",Energy`);
  const insert = { object: "Account", operation: "insert" };

  const { path, job } = await ingest(org, insert, `Name,Industry\n${[...rows, ",Energy"].join("\n")}\n`);
  const unknown = await ingest(org, insert, "Name,Bogus__c\nAcme,1\n");

  expect(job).toMatchObject({ state: "JobComplete", numberRecordsProcessed: 201, numberRecordsFailed: 1 });
  expect((await org.get(`${path}/successfulResults`)).text.split("\n")[1]).toMatch(
    /^"001\w{15}","true","N, ""199""","Energy"$/,
  );
  expect((await org.get(`${path}/failedResults`)).text).toBe(
    '"sf__Id","sf__Error","Name","Industry"\n"","REQUIRED_FIELD_MISSING:Required fields are missing: [Name]:Name --","","Energy"\n',
  );
  expect(unknown.job).toMatchObject({
    state: "Failed",
    errorMessage: "InvalidBatch : Field name not found : Bogus__c",
  });
  expect((await org.get(`${unknown.path}/unprocessedRecords`)).text).toBe('"Name","Bogus__c"\n"Acme","1"\n');
  expect((await org.query("SELECT COUNT() FROM Account")).json["totalSize"]).toBe(200);
});

test("an export comes in pages, each with its header, until the locator says null; counts and parts are not for bulk", async () => {
  const org = await openOrg();
  for (const Name of ["Plain", 'Quoted "name"', "Line\nbreak", "Ümlaut"]) await org.create("Account", { Name });

  const { path, job } = await exported(org, "SELECT Name, IsDeleted, AnnualRevenue, Owner.Name FROM Account");
  const pages: Answer[] = [];
  for (let locator = ""; locator !== "null"; ) {
    const page = await org.get(`${path}/results?maxRecords=3${locator === "" ? "" : `&locator=${locator}`}`);
    pages.push(page);
    locator = page.headers.get("sforce-locator") ?? "null";
  }

  const header = '"Name","IsDeleted","AnnualRevenue","Owner.Name"\n';
  const line = (name: string) => `"${name}","false","","Ada Admin"\n`;
  expect(job).toMatchObject({ state: "JobComplete", numberRecordsProcessed: 4 });
  expect(pages.map((page) => page.text)).toEqual([
    header + line("Plain") + line('Quoted ""name""') + line("Line\nbreak"),
    header + line("Ümlaut"),
  ]);
  for (const query of ["SELECT COUNT() FROM Account", "SELECT Id, (SELECT Id FROM Contacts) FROM Account"]) {
    const { json } = await org.call("POST", "jobs/query", { operation: "query", query });
    expect(json[0], query).toMatchObject({ errorCode: "FEATURE_NOT_ENABLED" });
  }
});

test("a job that was waiting when the org stopped is worked off after the next start", async () => {
  const dataDir = temporaryFolder();
  const first = await startOrg({ dataDir });
  const before = new Client(first);
  const created = await before.call("POST", "jobs/ingest", { object: "Account", operation: "insert" });
  const path = `jobs/ingest/${created.json["id"]}`;
  await before.call("PUT", `${path}/batches`, `Name\n${"N\n".repeat(1000)}`);
  await before.call("PATCH", path, { state: "UploadComplete" });
  await first.close();

  const org = await openOrg({ dataDir });
  const job = await over(org, path);

  expect(job).toMatchObject({ state: "JobComplete", numberRecordsProcessed: 1000, numberRecordsFailed: 0 });
  expect((await org.query("SELECT COUNT() FROM Account")).json["totalSize"]).toBe(1000);
});
