import { readFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { readOptions } from "../../../lib/local/read-options.ts";
import { RunningInstance } from "../../support/processes/instance.ts";
import { type Answered, Caller } from "./caller.ts";
import { growthOf, readCsv } from "./csv-memory.ts";
import { fillAuditLog, fillDeliveries, fillTriggerLog } from "./fill-logs.ts";
import { probed } from "./live-bytes.ts";

/** The 95th percentile of a first page. */
const MOST_MILLISECONDS = 15;
const MOST_REQUESTS_TO_DYNAMODB = { warm: 3, cold: 6 };
const MOST_STATEMENTS = 1;

const HELP = `npm run bench:api [-- --rows 10000] [--only audit,deliveries] [--requests 500] [--json]

How fast the reading endpoints answer beside a trigger log of 1,000,000 rows and an audit log of 100,000 entries. The
instance is npm start in a process of its own, its beat running; the callers are this process with two connections, each
sending its next request when the last one is answered. What was written for the filling is vacuumed and checkpointed
before anything is measured.

  --rows      rows of the trigger log; the audit log has a tenth of it
  --only      the endpoints whose names begin with one of these
  --requests  how often each endpoint is asked: some seconds of it, so that one stall of the machine is not a percentile
  --json      prints the figures as JSON

A first page must be answered within ${MOST_MILLISECONDS} ms at the 95th percentile, for at most ${MOST_STATEMENTS} SQL statement and ${MOST_REQUESTS_TO_DYNAMODB.warm} requests to
DynamoDB, ${MOST_REQUESTS_TO_DYNAMODB.cold} where the process knows nothing yet. Ends with 1 when that is missed. Pages far back, and answers that are no
page, are shown without a bar.`;

const options = readOptions(HELP, {
  rows: { type: "string", default: "1000000" },
  only: { type: "string", default: "" },
  requests: { type: "string", default: "2000" },
  json: { type: "boolean", default: false },
});

const LOG_ROWS = Number(options.rows);
const AUDIT_ENTRIES = LOG_ROWS / 10;
const CALLERS = 2;
const REQUESTS = Number(options.requests);
const WARM_UP = 100;

/**
 * A CSV is flat when the server holds no more during its second half than during its first. A server that kept only the
 * text would hold half of the file more; a fifth of the file is allowed for chance.
 */
const MOST_GROWTH = 0.2;
const LEAST_LOOKS = 15;
const ENTRIES_TO_LOOK_AT = 20_000;

const file = join(tmpdir(), `bridge-live-bytes-${process.pid}`);
const instance = new RunningInstance({ environment: { RATE_LIMIT_PER_MINUTE: "1000000000", ...probed(file) } });
const { base_url, workspace_id, api_token, pid } = await instance.start();
const callers = Array.from({ length: CALLERS }, () => new Caller(new URL(base_url), api_token ?? ""));
const failures: string[] = [];
const figures: Figures[] = [];
try {
  tell(`filling: ${LOG_ROWS} trigger-log rows, ${AUDIT_ENTRIES} audit entries`);
  const webhook = await createWebhook();
  await Promise.all([
    fillTriggerLog(instance.dataDir, instance.file.database_url, LOG_ROWS),
    fillAuditLog(instance.dataDir, workspace_id ?? "", AUDIT_ENTRIES),
    fillDeliveries(instance.dataDir, workspace_id ?? "", webhook),
  ]);
  tell(`load of the machine in the last minute, our filling included: ${loadavg()[0]?.toFixed(1)}`);

  tell(
    `\n${CALLERS} callers, ${REQUESTS} requests each endpoint      p50      p95      p99    CPU of the host   DynamoDB, cold    SQL`,
  );
  for (const endpoint of endpoints(webhook).filter(({ name }) => isAsked(name))) {
    const found = await measure(endpoint);
    figures.push(found);
    report(found);
    if (endpoint.isFirstPage) judge(found);
  }
  compareAuditPages();
  if (isAsked("csv")) await measureCsv();
} finally {
  for (const caller of callers) caller.close();
  await instance.destroy();
}
if (options.json) console.log(JSON.stringify({ rows: LOG_ROWS, figures, failures }, null, 2));
for (const failure of failures) console.error(`MISSED: ${failure}`);
process.exitCode = failures.length > 0 ? 1 : 0;

interface Endpoint {
  readonly name: string;
  /** Below the workspace. */
  readonly path: string;
  readonly isFirstPage: boolean;
}

interface Figures {
  readonly name: string;
  /** Milliseconds. */
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  /** Milliseconds of the host's processor, each request. */
  readonly processor: number;
  /** Requests to DynamoDB: the most that one answer took, and the median; some find a cache of theirs outdated. */
  readonly dynamodb: { readonly cold: number; readonly warm: number };
  /** The most SQL statements that one answer took, once a session is open. */
  readonly sql: number;
}

function endpoints(webhookId: string): readonly Endpoint[] {
  const firstPages = {
    mappings: "/mappings",
    activity: "/monitoring/activity",
    "activity, 200 rows of a table": "/monitoring/activity?table=contact&limit=200",
    "activity NEW": "/monitoring/activity?state=NEW",
    "activity SUCCESS": "/monitoring/activity?state=SUCCESS",
    "activity FAILED of a table": "/monitoring/activity?state=FAILED&table=contact",
    errors: "/monitoring/errors",
    "audit log": "/audit-log",
    "audit log by actor and action": "/audit-log?actor=actor4@example.com&action=mapping.updated",
    deliveries: `/webhooks/${webhookId}/deliveries`,
  };
  const others = {
    "activity, in the middle": `/monitoring/activity?offset=${LOG_ROWS / 2}`,
    "activity, last page": `/monitoring/activity?offset=${LOG_ROWS - 50}`,
    "audit log, in the middle": `/audit-log?offset=${AUDIT_ENTRIES / 2}`,
    "audit log, last page": `/audit-log?offset=${AUDIT_ENTRIES - 50}`,
    health: "/health",
    "config export": "/config/export",
    drift: "/config/drift",
    metrics: "",
  };
  const named = (paths: Readonly<Record<string, string>>, isFirstPage: boolean) =>
    Object.entries(paths).map(([name, path]) => ({ name, path, isFirstPage }));
  return [...named(firstPages, true), ...named(others, false)];
}

function isAsked(name: string): boolean {
  return options.only.split(",").some((beginning) => name.startsWith(beginning.trim()));
}

function tell(line: string): void {
  if (!options.json) console.log(line);
}

async function createWebhook(): Promise<string> {
  const { body } = await instance.api("POST", "/webhooks", {
    url: "https://example.com/hook",
    events: ["sync.broken"],
  });
  await instance.api("POST", "/config/baseline");
  return (body.data as { readonly id: string } | undefined)?.id ?? "";
}

/** Asks for one path from all callers at once. */
async function measure({ name, path: below }: Endpoint): Promise<Figures> {
  const path = below === "" ? "/api/metrics" : `/api/v1/t/${workspace_id}${below}`;
  const [first] = await askAll(path, 1);
  await askAll(path, Math.min(WARM_UP, REQUESTS));
  const processorBefore = processorMilliseconds();
  const answers = await askAll(path, REQUESTS);
  const processor = (processorMilliseconds() - processorBefore) / REQUESTS;
  const times = answers.map(({ milliseconds }) => milliseconds).sort((one, other) => one - other);
  const [p50 = 0, p95 = 0, p99 = 0] = [0.5, 0.95, 0.99].map((share) => times[Math.floor(times.length * share)] ?? 0);
  const asked = answers.map(({ dynamodb }) => dynamodb).sort((one, other) => one - other);
  const dynamodb = { cold: Math.max(first?.dynamodb ?? 0, ...asked), warm: asked[Math.floor(asked.length / 2)] ?? 0 };
  return { name, p50, p95, p99, processor, dynamodb, sql: Math.max(...answers.map(({ sql }) => sql)) };
}

async function askAll(path: string, requests: number): Promise<Answered[]> {
  const answers: Answered[] = [];
  let left = requests;
  await Promise.all(
    callers.map(async (caller) => {
      while (left-- > 0) answers.push(await caller.get(path));
    }),
  );
  return answers;
}

function report({ name, p50, p95, p99, processor, dynamodb, sql }: Figures): void {
  const times = [p50, p95, p99].map((time) => `${time.toFixed(1).padStart(6)} ms`).join("");
  const calls = `${String(dynamodb.warm).padStart(11)}${String(dynamodb.cold).padStart(6)}${String(sql).padStart(7)}`;
  tell(`${name.padEnd(40)}${times}${processor.toFixed(2).padStart(16)} ms${calls}`);
}

function judge({ name, p95, dynamodb, sql }: Figures): void {
  const miss = (what: string, found: number, most: number) => {
    if (!(found <= most)) failures.push(`${name}: ${what} ${found.toFixed(1)}, at most ${most}`);
  };
  miss("milliseconds at p95", p95, MOST_MILLISECONDS);
  miss("requests to DynamoDB", dynamodb.warm, MOST_REQUESTS_TO_DYNAMODB.warm);
  miss("requests to DynamoDB of a cold process", dynamodb.cold, MOST_REQUESTS_TO_DYNAMODB.cold);
  miss("SQL statements", sql, MOST_STATEMENTS);
}

function compareAuditPages(): void {
  const medianOf = (name: string) => figures.find((one) => one.name === name)?.p50;
  const [first, last] = [medianOf("audit log"), medianOf("audit log, last page")];
  if (first === undefined || last === undefined) return;
  const ratio = last / first;
  tell(`\naudit log: the last page takes ${ratio.toFixed(2)} times the first`);
  if (ratio > 2) failures.push(`the last page of the audit log takes ${ratio.toFixed(2)} times the first, at most 2`);
}

/** Reads the whole log as CSV and watches what the server holds. */
async function measureCsv(): Promise<void> {
  const url = `${base_url}/api/v1/t/${workspace_id}/audit-log?format=csv`;
  const asked = { url, token: api_token ?? "", entries: AUDIT_ENTRIES };
  await readCsv(asked, { pid, file }); // the first one settles what the runtime keeps anyway
  const read = await readCsv(asked, { pid, file });
  const { entries, bytes, live } = read;
  const growth = growthOf(read);
  const megabytes = (count: number) => (count / 1e6).toFixed(1);
  tell(
    `CSV: ${entries} entries, ${megabytes(bytes)} MB; in use without garbage: at most ${megabytes(Math.max(...live))} MB, in the second half ${megabytes(growth)} MB more than in the first`,
  );
  if (entries < AUDIT_ENTRIES) failures.push(`the CSV holds ${entries} entries`);
  if (AUDIT_ENTRIES >= ENTRIES_TO_LOOK_AT && live.length < LEAST_LOOKS)
    failures.push(`the memory was looked at ${live.length} times only`);
  if (growth > bytes * MOST_GROWTH)
    failures.push(`memory grew by ${megabytes(growth)} MB for a CSV of ${megabytes(bytes)} MB`);
}

/** What the host's process has used so far, in steps of 10 ms; unlike the clock, other programs don't disturb it. */
function processorMilliseconds(): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(" ");
  return (Number(fields[13]) + Number(fields[14])) * 10;
}
