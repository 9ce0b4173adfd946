import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { readOptions } from "../../../lib/local/read-options.ts";
import { type Ask, orgAsk, request } from "../ask.ts";
import { type Figure, report, say } from "./figures.ts";
import { type Child, spawnOrg } from "./org-process.ts";

const HELP = `npm run bench:org [-- --records 1000000] [--json]

How fast the embedded org is, and what it costs. The org runs in a process of its own. Ends with 1 when a figure misses
its aim.

  --records  how many records the org is filled with
  --json     the figures as JSON`;

const options = readOptions(HELP, {
  records: { type: "string", default: "1000000" },
  json: { type: "boolean", default: false },
});
const RECORDS = Number(options.records);
const EXPORTED = Math.min(RECORDS, 100_000);
const UPSERTS = 50;
const SAVED = Object.keys(contact(0));
const FIELDS = ["Id", ...SAVED, "CreatedDate", "LastModifiedDate", "SystemModstamp"].join(",");

const dataDir = mkdtempSync(join(tmpdir(), "bridge-bench-org-"));
const org = await spawnOrg(dataDir);
const ask: Ask = orgAsk(org.url, org.token);
try {
  const figures: Figure[] = [];
  for (const measure of [soapUpserts, fill, queryPages, bulkExport, memory]) {
    figures.push(await measure(org));
    say(`${figures.at(-1)?.name}: ${figures.at(-1)?.value.toFixed(0)}`);
  }
  report(figures, options);
} finally {
  org.stop();
  rmSync(dataDir, { recursive: true, force: true });
}

function contact(serial: number) {
  return {
    FirstName: `First ${serial}`,
    LastName: `Last ${serial}`,
    Email: `person.${serial}@customer-${serial % 1000}.example`,
    Phone: `+49 30 ${serial}`,
    MobilePhone: `+49 170 ${serial}`,
    Title: "Head of Procurement, Europe",
    Department: "Procurement",
    MailingStreet: `${serial % 200} Long Winding Road, Building ${serial % 7}`,
    MailingCity: "Berlin",
    MailingState: "Berlin",
    MailingPostalCode: String(10_000 + (serial % 9999)),
    MailingCountry: "Germany",
    LeadSource: "Web",
    Birthdate: "1980-02-29",
    HasOptedOutOfEmail: String(serial % 2 === 0),
    External_Id__c: `bench-${serial}`,
  };
}

/** Upserts of 200 records a call, half of them new, one call after the other as one connection makes them. */
async function soapUpserts({ url, token }: Child): Promise<Figure> {
  const envelopes = Array.from({ length: UPSERTS }, (_, call) => upsertEnvelope(token, Math.floor(call / 2) * 200));
  const started = performance.now();
  for (const body of envelopes) {
    const headers = { "Content-Type": "text/xml", SOAPAction: '""' };
    const text = await (await fetch(`${url}/services/Soap/u/66.0`, { method: "POST", headers, body })).text();
    if ((text.match(/<success>true</g) ?? []).length !== 200)
      throw new Error(`an upsert was refused: ${text.slice(0, 1000)}`);
  }
  return { name: "SOAP upserts of 200, a second", value: (UPSERTS * 200) / seconds(started), unit: "", atLeast: 2000 };
}

function upsertEnvelope(token: string, from: number): string {
  const records = Array.from({ length: 200 }, (_, index) => {
    const fields = Object.entries(contact(from + index)).map(([name, value]) => `<${name}>${value}</${name}>`);
    return `<sObjects><type>Contact</type>${fields.join("")}</sObjects>`;
  });
  return `<se:Envelope xmlns:se="http://schemas.xmlsoap.org/soap/envelope/"><se:Header><SessionHeader><sessionId>${token}</sessionId></SessionHeader></se:Header><se:Body><upsert xmlns="urn:partner.soap.sforce.com"><externalIDFieldName>External_Id__c</externalIDFieldName>${records.join("")}</upsert></se:Body></se:Envelope>`;
}

/** The rest of the records, by bulk ingest in uploads of 100,000. */
async function fill(): Promise<Figure> {
  const already = (UPSERTS * 200) / 2;
  const started = performance.now();
  for (let from = already; from < RECORDS; from += 100_000) await ingest(from, Math.min(RECORDS, from + 100_000));
  const records = RECORDS - already;
  return { name: `Bulk ingest of ${records}, a second`, value: records / seconds(started), unit: "", atLeast: 2000 };
}

async function ingest(from: number, until: number): Promise<void> {
  const lines = Array.from({ length: until - from }, (_, at) => `"${Object.values(contact(from + at)).join('","')}"`);
  const { id } = await ask<Job>("POST", "/jobs/ingest", { object: "Contact", operation: "insert" });
  await ask("PUT", `/jobs/ingest/${id}/batches`, `${SAVED.join(",")}\n${lines.join("\n")}\n`);
  await ask("PATCH", `/jobs/ingest/${id}`, { state: "UploadComplete" });
  const done = await finished(`/jobs/ingest/${id}`);
  if (done.numberRecordsFailed !== 0) throw new Error(`records were refused: ${JSON.stringify(done)}`);
  await ask("DELETE", `/jobs/ingest/${id}`);
}

/** Keyset pages of 2,000 as the engine reads them. */
async function queryPages(): Promise<Figure> {
  let read = 0;
  let after = "SystemModstamp >= 2000-01-01T00:00:00Z";
  const started = performance.now();
  while (read < EXPORTED) {
    const soql = `SELECT ${FIELDS} FROM Contact WHERE ${after} ORDER BY SystemModstamp, Id LIMIT 2000`;
    const path = `/queryAll?q=${encodeURIComponent(soql)}`;
    const { records } = await ask<{ records: Record<string, string>[] }>("GET", path);
    const last = records.at(-1);
    if (!last) break;
    read += records.length;
    const stamp = String(last["SystemModstamp"]).replace("+0000", "Z");
    after = `((SystemModstamp = ${stamp} AND Id > '${last["Id"]}') OR SystemModstamp > ${stamp})`;
  }
  return {
    name: "query pages of 2,000 × 20, records a second",
    value: read / seconds(started),
    unit: "",
    atLeast: 20_000,
  };
}

/** From asking for the job to the last byte of its result. */
async function bulkExport({ url, token }: Child): Promise<Figure> {
  const started = performance.now();
  const query = `SELECT ${FIELDS} FROM Contact LIMIT ${EXPORTED}`;
  const { id } = await ask<Job>("POST", "/jobs/query", { operation: "query", query });
  await finished(`/jobs/query/${id}`);
  let bytes = 0;
  for (let locator = ""; locator !== "null"; ) {
    const path = `/jobs/query/${id}/results?maxRecords=50000${locator && `&locator=${locator}`}`;
    const part = await request(`${url}/services/data/v66.0${path}`, token, "GET");
    for await (const chunk of part.body ?? []) bytes += chunk.length;
    locator = part.headers.get("sforce-locator") ?? "null";
  }
  return {
    name: `Bulk export of ${EXPORTED} × 20, a second`,
    value: bytes / 1e6 / seconds(started),
    unit: "MB",
    atLeast: 60,
  };
}

async function memory({ pid }: Child): Promise<Figure> {
  const peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
  return { name: `memory at its peak, ${RECORDS} records`, value: peak, unit: "MiB", atMost: 1024 };
}

interface Job {
  readonly id: string;
  readonly state: string;
  readonly numberRecordsFailed?: number;
}

async function finished(path: string): Promise<Job> {
  for (;;) {
    const job = await ask<Job>("GET", path);
    if (job.state === "JobComplete") return job;
    if (job.state !== "UploadComplete" && job.state !== "InProgress") throw new Error(JSON.stringify(job));
    await pause(10);
  }
}

function seconds(started: number): number {
  return (performance.now() - started) / 1000;
}
