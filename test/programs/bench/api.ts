import { readFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { RunningInstance } from "../../support/processes/instance.ts";
import { Caller } from "./caller.ts";
import { growthOf, probed, readCsv } from "./csv-memory.ts";
import { fillAuditLog, fillDeliveries, fillTriggerLog } from "./fill-logs.ts";

const HELP = `npm run bench:api [-- --scale 0.01] [--only audit,deliveries] [--requests 5000]

How fast the reading endpoints answer beside a trigger log of 1,000,000 rows and an audit log of 100,000 entries. The
instance is npm start in a process of its own, its beat going on; the callers are this process with ten connections, each
sending its next request when the last one is answered, and each asking for pages of a length of its own, so that no
answer serves two of them. Entries of the audit log that the instance has read twice it knows by heart, so pages that
nobody has read yet are measured as well ("anywhere"). Where the rows of the trigger log lie it learns from the pages with
which each endpoint is warmed up. What was written for the filling is vacuumed and checkpointed before anything is measured.

  --scale     a part of the rows and entries, to see that it works
  --only      the endpoints whose names begin with one of these
  --requests  how often each endpoint is asked: some seconds of it, so that one stall of the machine is not a percentile

Prints each figure, and ends with 1 when a bar is missed.`;

const { values: options } = parseArgs({
  options: {
    scale: { type: "string", default: "1" },
    only: { type: "string", default: "" },
    requests: { type: "string", default: "5000" },
    help: { type: "boolean", default: false },
  },
});
if (options.help) {
  console.log(HELP);
  process.exit();
}

const LOG_ROWS = 1_000_000 * Number(options.scale);
const AUDIT_ENTRIES = 100_000 * Number(options.scale);
const CALLERS = 10;
const REQUESTS = Number(options.requests);
const WARM_UP = 300;
const MOST_MILLISECONDS = 25;

/**
 * A CSV is flat when the server holds no more during its second half than during its first. Whoever kept but the text of
 * what went by would hold half of the file more; a fifth of the file is allowed for chance.
 */
const MOST_GROWTH = 0.2;
const LEAST_LOOKS = 15;

const file = join(tmpdir(), `bridge-live-bytes-${process.pid}`);
const instance = new RunningInstance({ environment: { RATE_LIMIT_PER_MINUTE: "1000000000", ...probed(file) } });
const { base_url, workspace_id, api_token, pid } = await instance.start();
const callers = Array.from({ length: CALLERS }, () => new Caller(new URL(base_url), api_token ?? ""));
const failures: string[] = [];
try {
  console.log(`filling: ${LOG_ROWS} trigger-log rows, ${AUDIT_ENTRIES} audit entries`);
  const webhook = await createWebhook();
  await Promise.all([
    fillTriggerLog(instance.file.database_url, LOG_ROWS),
    fillAuditLog(instance.dataDir, workspace_id ?? "", AUDIT_ENTRIES),
    fillDeliveries(instance.dataDir, workspace_id ?? "", webhook),
  ]);
  console.log(`load of the machine in the last minute, our filling included: ${loadavg()[0]?.toFixed(1)}`);

  console.log(
    `\n${CALLERS} callers, ${REQUESTS} requests each endpoint      p50      p95      p99   req/s  CPU of the host a request`,
  );
  const medians = new Map<string, number>();
  for (const [name, path] of Object.entries(endpoints(webhook)).filter(([name]) => isAsked(name))) {
    medians.set(name, await measure(name, path));
  }
  compareAuditPages(medians);
  if (isAsked("csv")) await measureCsv();
} finally {
  for (const caller of callers) caller.close();
  await instance.destroy();
}
for (const failure of failures) console.error(`MISSED: ${failure}`);
process.exitCode = failures.length > 0 ? 1 : 0;

/** What is asked for, below the workspace; `#50`: each caller's pages have a length of their own; `~100`: each page a place. */
function endpoints(webhookId: string): Record<string, string> {
  return {
    mappings: "/mappings",
    health: "/health",
    activity: "/monitoring/activity?limit=#50",
    "activity, a hundred pages back": "/monitoring/activity?offset=20000&limit=#200",
    "activity, anywhere": `/monitoring/activity?offset=~${LOG_ROWS}&limit=#200`,
    "activity, last page": `/monitoring/activity?offset=${LOG_ROWS - 50}&limit=#50`,
    "activity of a table": "/monitoring/activity?table=contact&limit=#200",
    "activity NEW": "/monitoring/activity?state=NEW&limit=#50",
    "activity FAILED of a table": "/monitoring/activity?state=FAILED&table=contact&limit=#50",
    errors: "/monitoring/errors?limit=#50",
    "config export": "/config/export",
    drift: "/config/drift",
    "audit log": "/audit-log?limit=#50",
    "audit log, last page": `/audit-log?offset=${AUDIT_ENTRIES - 50}&limit=#50`,
    "audit log, anywhere": `/audit-log?offset=~${AUDIT_ENTRIES}&limit=#50`,
    "audit log by actor and action": "/audit-log?actor=actor4@example.com&action=mapping.updated&limit=#100",
    deliveries: `/webhooks/${webhookId}/deliveries?limit=#50`,
    metrics: "",
  };
}

function isAsked(name: string): boolean {
  return options.only.split(",").some((beginning) => name.startsWith(beginning.trim()));
}

/** A caller's own question: `#50` becomes 50 for the first, 51 for the second; `#200`, the most there may be, 200, 199. */
function questionOf(path: string, caller: number): string {
  return path.replace(/#(\d+)/, (_, length) => String(length === "200" ? 200 - caller : Number(length) + caller));
}

/** A place among so many, another one each time. */
function anyPlace(_: string, places: string): string {
  return String(Math.floor(Math.random() * (Number(places) - 200)));
}

async function createWebhook(): Promise<string> {
  const { body } = await instance.api("POST", "/webhooks", {
    url: "https://example.com/hook",
    events: ["sync.broken"],
  });
  await instance.api("POST", "/config/baseline");
  return (body.data as { readonly id: string } | undefined)?.id ?? "";
}

/** Asks for one path from all callers at once and tells how long it took; the median in milliseconds. */
async function measure(name: string, below: string): Promise<number> {
  const path = below === "" ? "/api/metrics" : `/api/v1/t/${workspace_id}${below}`;
  await askAll(path, Math.min(WARM_UP, REQUESTS));
  const processorBefore = processorMilliseconds();
  const began = performance.now();
  const times = await askAll(path, REQUESTS);
  const perSecond = Math.round((REQUESTS / (performance.now() - began)) * 1000);
  const processor = (processorMilliseconds() - processorBefore) / REQUESTS;
  times.sort((one, other) => one - other);
  const [p50 = 0, p95 = 0, p99 = 0] = [0.5, 0.95, 0.99].map((share) => times[Math.floor(times.length * share)] ?? 0);
  const figures = [p50, p95, p99].map((time) => `${time.toFixed(1).padStart(6)} ms`).join("");
  console.log(`${name.padEnd(40)}${figures}${String(perSecond).padStart(8)}${processor.toFixed(2).padStart(8)} ms`);
  if (p99 > MOST_MILLISECONDS) failures.push(`${name}: p99 ${p99.toFixed(1)} ms, at most ${MOST_MILLISECONDS} ms`);
  return p50;
}

async function askAll(path: string, requests: number): Promise<number[]> {
  const times: number[] = [];
  let left = requests;
  await Promise.all(
    callers.map(async (caller, index) => {
      const question = questionOf(path, index);
      while (left-- > 0) times.push(await caller.get(question.replace(/~(\d+)/, anyPlace)));
    }),
  );
  return times;
}

function compareAuditPages(medians: ReadonlyMap<string, number>): void {
  const [first, last] = [medians.get("audit log"), medians.get("audit log, last page")];
  if (first === undefined || last === undefined) return;
  const ratio = last / first;
  console.log(`\naudit log: the last page takes ${ratio.toFixed(2)} times the first`);
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
  console.log(
    `CSV: ${entries} entries, ${megabytes(bytes)} MB; in use without garbage: at most ${megabytes(Math.max(...live))} MB, in the second half ${megabytes(growth)} MB more than in the first`,
  );
  if (entries < AUDIT_ENTRIES) failures.push(`the CSV holds ${entries} entries`);
  if (live.length < LEAST_LOOKS) failures.push(`the memory was looked at ${live.length} times only`);
  if (growth > bytes * MOST_GROWTH)
    failures.push(`memory grew by ${megabytes(growth)} MB for a CSV of ${megabytes(bytes)} MB`);
}

/** What the host's process has used so far, in steps of 10 ms; unlike the clock, other programs don't disturb it. */
function processorMilliseconds(): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(" ");
  return (Number(fields[13]) + Number(fields[14])) * 10;
}
