import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readOptions } from "../../../lib/local/read-options.ts";
import { orgAsk } from "../ask.ts";
import { type Figure, report, say } from "./figures.ts";
import { spawnOrg } from "./org-process.ts";
import { ingest, queryByBulk } from "./sync/plain-client.ts";

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
const ask = orgAsk(org.url, org.token);
const already = (UPSERTS * 200) / 2;
const left = RECORDS - already;
let bytes = 0;
try {
  const figures: Figure[] = [
    {
      name: "SOAP upserts of 200, a second",
      value: (UPSERTS * 200) / (await timed(soapUpserts)),
      unit: "",
      atLeast: 2000,
    },
    { name: `Bulk ingest of ${left}, a second`, value: left / (await timed(fill)), unit: "", atLeast: 2000 },
    {
      name: "query pages of 2,000 × 20, records a second",
      value: EXPORTED / (await timed(queryPages)),
      unit: "",
      atLeast: 20_000,
    },
  ];
  const exported = await timed(bulkExport);
  figures.push(
    { name: `Bulk export of ${EXPORTED} × 20, a second`, value: bytes / 1e6 / exported, unit: "MB", atLeast: 60 },
    { name: `memory at its peak, ${RECORDS} records`, value: peakMemory(), unit: "MiB", atMost: 1024 },
  );
  report(figures, options);
} finally {
  org.stop();
  rmSync(dataDir, { recursive: true, force: true });
}

/** The seconds that this takes. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  say(work.name);
  return (performance.now() - started) / 1000;
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
async function soapUpserts(): Promise<void> {
  const headers = { "Content-Type": "text/xml", SOAPAction: '""' };
  for (let call = 0; call < UPSERTS; call += 1) {
    const body = upsertEnvelope(Math.floor(call / 2) * 200);
    const text = await (await fetch(`${org.url}/services/Soap/u/66.0`, { method: "POST", headers, body })).text();
    if ((text.match(/<success>true</g) ?? []).length !== 200)
      throw new Error(`an upsert was refused: ${text.slice(0, 1000)}`);
  }
}

function upsertEnvelope(from: number): string {
  const records = Array.from({ length: 200 }, (_, index) => {
    const fields = Object.entries(contact(from + index)).map(([name, value]) => `<${name}>${value}</${name}>`);
    return `<sObjects><type>Contact</type>${fields.join("")}</sObjects>`;
  });
  return `<se:Envelope xmlns:se="http://schemas.xmlsoap.org/soap/envelope/"><se:Header><SessionHeader><sessionId>${org.token}</sessionId></SessionHeader></se:Header><se:Body><upsert xmlns="urn:partner.soap.sforce.com"><externalIDFieldName>External_Id__c</externalIDFieldName>${records.join("")}</upsert></se:Body></se:Envelope>`;
}

/** The rest of the records, by bulk ingest in uploads of 100,000. */
async function fill(): Promise<void> {
  for (let from = already; from < RECORDS; from += 100_000) {
    const length = Math.min(RECORDS - from, 100_000);
    const lines = Array.from({ length }, (_, at) => `"${Object.values(contact(from + at)).join('","')}"`);
    const csv = `${SAVED.join(",")}\n${lines.join("\n")}\n`;
    const path = await ingest(ask, { object: "Contact", operation: "insert" }, csv, 10);
    const { numberRecordsFailed } = await ask<{ numberRecordsFailed: number }>("GET", path);
    if (numberRecordsFailed !== 0) throw new Error(`${numberRecordsFailed} records were refused`);
    await ask("DELETE", path);
  }
}

/** Keyset pages of 2,000 as the engine reads them. */
async function queryPages(): Promise<void> {
  let after = "SystemModstamp >= 2000-01-01T00:00:00Z";
  for (let read = 0; read < EXPORTED; read += 2000) {
    const soql = `SELECT ${FIELDS} FROM Contact WHERE ${after} ORDER BY SystemModstamp, Id LIMIT 2000`;
    const path = `/queryAll?q=${encodeURIComponent(soql)}`;
    const { records } = await ask<{ records: Record<string, string>[] }>("GET", path);
    const { Id, SystemModstamp } = records.at(-1) ?? {};
    const stamp = String(SystemModstamp).replace("+0000", "Z");
    after = `((SystemModstamp = ${stamp} AND Id > '${Id}') OR SystemModstamp > ${stamp})`;
  }
}

/** From asking for the job to the last byte of its result. */
async function bulkExport(): Promise<void> {
  const parts = await queryByBulk(org, `SELECT ${FIELDS} FROM Contact LIMIT ${EXPORTED}`);
  for await (const { body } of parts()) for await (const chunk of body ?? []) bytes += chunk.length;
}

function peakMemory(): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${org.pid}/status`, "utf8"))?.[1]) / 1024;
}
