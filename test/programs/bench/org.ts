import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { readOptions } from "../../../lib/local/read-options.ts";
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
const FIELDS = [
  "Id",
  "FirstName",
  "LastName",
  "Email",
  "Phone",
  "MobilePhone",
  "Title",
  "Department",
  "MailingStreet",
  "MailingCity",
  "MailingState",
  "MailingPostalCode",
  "MailingCountry",
  "LeadSource",
  "Birthdate",
  "HasOptedOutOfEmail",
  "External_Id__c",
  "CreatedDate",
  "LastModifiedDate",
  "SystemModstamp",
];

interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly aim: number;
  /** True where less is better. */
  readonly isCeiling?: boolean;
}

const dataDir = await mkdtemp(join(tmpdir(), "bridge-bench-org-"));
const org = await spawnOrg(dataDir);
try {
  const figures: (Figure & { readonly cpuSeconds: number })[] = [];
  for (const measure of [soapUpserts, fill, queryPages, bulkExport, memory]) {
    const before = await cpuSeconds(org);
    const figure = await measure(org);
    const used = (await cpuSeconds(org)) - before;
    figures.push({ ...figure, cpuSeconds: used });
    if (!options.json) print(figure, used);
  }
  if (options.json) console.log(JSON.stringify(figures, null, 2));
  process.exitCode = figures.every(({ value, aim, isCeiling }) => (isCeiling ? value <= aim : value >= aim)) ? 0 : 1;
} finally {
  org.stop();
  await rm(dataDir, { recursive: true, force: true });
}

function print({ what, value, unit, aim, isCeiling }: Figure, cpu: number): void {
  const verdict = (isCeiling ? value <= aim : value >= aim) ? "ok" : "BELOW THE AIM";
  const bound = `aim ${isCeiling ? "≤" : "≥"} ${aim}`.padEnd(14);
  console.log(
    `${what.padEnd(46)} ${value.toFixed(0).padStart(8)} ${unit.padEnd(10)} ${bound} ${verdict}; ${cpu.toFixed(1)} s of the org's CPU`,
  );
}

/** What the org's process has used, so that a busy machine can be distinguished from a slow org. */
async function cpuSeconds({ pid }: Child): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).replace(/^.*\) /, "").split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function contact(serial: number): Record<string, string> {
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
  const calls = 50;
  const envelopes = Array.from({ length: calls }, (_, call) => upsertEnvelope(token, Math.floor(call / 2) * 200));
  const started = performance.now();
  for (const body of envelopes) {
    const response = await fetch(`${url}/services/Soap/u/66.0`, {
      method: "POST",
      headers: { "Content-Type": "text/xml", SOAPAction: '""' },
      body,
    });
    const text = await response.text();
    if ((text.match(/<success>true</g) ?? []).length !== 200)
      throw new Error(`an upsert was refused: ${text.slice(0, 1000)}`);
  }
  return { what: "SOAP upserts of 200", value: (calls * 200) / seconds(started), unit: "records/s", aim: 2000 };
}

function upsertEnvelope(token: string, from: number): string {
  const records = Array.from({ length: 200 }, (_, index) => {
    const fields = Object.entries(contact(from + index)).map(([name, value]) => `<${name}>${value}</${name}>`);
    return `<sObjects><type>Contact</type>${fields.join("")}</sObjects>`;
  });
  return `<se:Envelope xmlns:se="http://schemas.xmlsoap.org/soap/envelope/"><se:Header><SessionHeader><sessionId>${token}</sessionId></SessionHeader></se:Header><se:Body><upsert xmlns="urn:partner.soap.sforce.com"><externalIDFieldName>External_Id__c</externalIDFieldName>${records.join("")}</upsert></se:Body></se:Envelope>`;
}

/** The rest of the records, by bulk ingest in uploads of 100,000. */
async function fill(child: Child): Promise<Figure> {
  const already = 5000;
  const started = performance.now();
  for (let from = already; from < RECORDS; from += 100_000)
    await ingest(child, from, Math.min(RECORDS, from + 100_000));
  return {
    what: `bulk ingest of ${RECORDS - already}`,
    value: (RECORDS - already) / seconds(started),
    unit: "records/s",
    aim: 2000,
  };
}

async function ingest(child: Child, from: number, until: number): Promise<void> {
  const [first] = [contact(0)];
  const lines = Array.from({ length: until - from }, (_, index) =>
    Object.values(contact(from + index))
      .map((value) => `"${value}"`)
      .join(","),
  );
  const job = await rest(child, "POST", "jobs/ingest", { object: "Contact", operation: "insert" });
  await rest(
    child,
    "PUT",
    `jobs/ingest/${job["id"]}/batches`,
    `${Object.keys(first ?? {}).join(",")}\n${lines.join("\n")}\n`,
  );
  await rest(child, "PATCH", `jobs/ingest/${job["id"]}`, { state: "UploadComplete" });
  const done = await finished(child, `jobs/ingest/${job["id"]}`);
  if (done["numberRecordsFailed"] !== 0) throw new Error(`records were refused: ${JSON.stringify(done)}`);
  await rest(child, "DELETE", `jobs/ingest/${job["id"]}`);
}

/** Keyset pages of 2,000 as the engine reads them. */
async function queryPages(child: Child): Promise<Figure> {
  let read = 0;
  let after = "SystemModstamp >= 2000-01-01T00:00:00Z";
  const started = performance.now();
  while (read < EXPORTED) {
    const soql = `SELECT ${FIELDS.join(",")} FROM Contact WHERE ${after} ORDER BY SystemModstamp, Id LIMIT 2000`;
    const page = (await rest(child, "GET", `queryAll?q=${encodeURIComponent(soql)}`)) as {
      records: Record<string, string>[];
    };
    const last = page.records[page.records.length - 1];
    if (!last) break;
    read += page.records.length;
    const stamp = String(last["SystemModstamp"]).replace("+0000", "Z");
    after = `((SystemModstamp = ${stamp} AND Id > '${last["Id"]}') OR SystemModstamp > ${stamp})`;
  }
  return { what: "query pages of 2,000 × 20 fields", value: read / seconds(started), unit: "records/s", aim: 20_000 };
}

/** From asking for the job to the last byte of its result. */
async function bulkExport(child: Child): Promise<Figure> {
  const started = performance.now();
  const job = await rest(child, "POST", "jobs/query", {
    operation: "query",
    query: `SELECT ${FIELDS.join(",")} FROM Contact LIMIT ${EXPORTED}`,
  });
  await finished(child, `jobs/query/${job["id"]}`);
  let bytes = 0;
  for (let locator = ""; locator !== "null"; ) {
    const path = `jobs/query/${job["id"]}/results?maxRecords=50000${locator === "" ? "" : `&locator=${locator}`}`;
    const response = await fetch(`${child.url}/services/data/v66.0/${path}`, {
      headers: { Authorization: `Bearer ${child.token}` },
    });
    for await (const chunk of response.body ?? []) bytes += chunk.length;
    locator = response.headers.get("sforce-locator") ?? "null";
  }
  return {
    what: `bulk export of ${EXPORTED} × 20 (${(bytes / 1e6).toFixed(0)} MB)`,
    value: bytes / 1e6 / seconds(started),
    unit: "MB/s",
    aim: 60,
  };
}

async function memory({ pid }: Child): Promise<Figure> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const peak = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
  return { what: `memory at its peak, ${RECORDS} records held`, value: peak, unit: "MiB", aim: 1024, isCeiling: true };
}

async function finished(child: Child, path: string): Promise<Record<string, unknown>> {
  for (;;) {
    const job = await rest(child, "GET", path);
    if (job["state"] === "JobComplete") return job;
    if (job["state"] !== "UploadComplete" && job["state"] !== "InProgress") throw new Error(JSON.stringify(job));
    await wait(10);
  }
}

async function rest(
  { url, token }: Child,
  method: string,
  path: string,
  body?: unknown,
): Promise<Record<string, unknown>> {
  const isText = typeof body === "string";
  const response = await fetch(`${url}/services/data/v66.0/${path}`, {
    method,
    headers: { Authorization: `Bearer ${token}`, "Content-Type": isText ? "text/csv" : "application/json" },
    ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.status >= 400) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
}

function seconds(started: number): number {
  return (performance.now() - started) / 1000;
}
