import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { RunningInstance } from "../support/instance.ts";
import { AUDIT_ENTRIES, fillAuditLog, fillTriggerLog, LOG_ROWS } from "./fill-logs.ts";

/**
 * How fast the reading endpoints answer beside a full trigger log and a full audit log. `npm run bench:api`
 *
 * The instance is `npm start` in a process of its own, its beat going on; the callers are one process with ten
 * connections, each sending its next request when the last one is answered.
 */
const CALLERS = 10;
const REQUESTS = 1500;
const WARM_UP = 100;
const MOST_MILLISECONDS = 25;

const instance = new RunningInstance({ environment: { RATE_LIMIT_PER_MINUTE: "1000000000" } });
const { base_url, workspace_id, api_token, pid } = await instance.start();
const agent = new Agent({ keepAlive: true, maxSockets: CALLERS });
const failures: string[] = [];
try {
  console.log(`filling: ${LOG_ROWS} trigger-log rows, ${AUDIT_ENTRIES} audit entries`);
  await Promise.all([fillTriggerLog(instance.file.database_url), fillAuditLog(instance.dataDir, workspace_id ?? "")]);
  const webhook = await createWebhook();

  console.log(
    `\n${CALLERS} callers, ${REQUESTS} requests each endpoint      p50      p95      p99   req/s  CPU of the host a request`,
  );
  const paths = endpoints(webhook);
  const medians = new Map<string, number>();
  for (const [name, path] of Object.entries(paths)) medians.set(name, await measure(name, path));
  compareAuditPages(medians);
  await measureCsv();
} finally {
  agent.destroy();
  await instance.destroy();
}
for (const failure of failures) console.error(`MISSED: ${failure}`);
process.exitCode = failures.length > 0 ? 1 : 0;

function endpoints(webhookId: string): Record<string, string> {
  return {
    mappings: "/mappings",
    health: "/health",
    activity: "/monitoring/activity",
    "activity, last page": `/monitoring/activity?limit=50&offset=${LOG_ROWS - 50}`,
    "activity of a table": "/monitoring/activity?table=contact&limit=200",
    "activity NEW": "/monitoring/activity?state=NEW",
    "activity FAILED of a table": "/monitoring/activity?state=FAILED&table=contact",
    errors: "/monitoring/errors",
    "config export": "/config/export",
    drift: "/config/drift",
    "audit log": "/audit-log",
    "audit log, last page": `/audit-log?offset=${AUDIT_ENTRIES - 50}`,
    "audit log by actor and action": "/audit-log?actor=actor4@example.com&action=mapping.updated&limit=100",
    deliveries: `/webhooks/${webhookId}/deliveries`,
    metrics: "",
  };
}

async function createWebhook(): Promise<string> {
  const { body } = await instance.api("POST", "/webhooks", {
    url: "https://example.com/hook",
    events: ["sync.broken"],
  });
  await instance.api("POST", "/config/baseline");
  return (body.data as { readonly id: string } | undefined)?.id ?? "";
}

async function measure(name: string, path: string): Promise<number> {
  const url = path === "" ? `${base_url}/api/metrics` : `${base_url}/api/v1/t/${workspace_id}${path}`;
  for (let at = 0; at < WARM_UP; at += 1) await get(url);
  const times: number[] = [];
  const processorBefore = processorMilliseconds();
  const began = performance.now();
  let left = REQUESTS;
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      while (left-- > 0) times.push(await get(url));
    }),
  );
  const perSecond = Math.round((REQUESTS / (performance.now() - began)) * 1000);
  times.sort((one, other) => one - other);
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => times[Math.floor(times.length * share)] ?? 0) as [
    number,
    number,
    number,
  ];
  const figures = [p50, p95, p99].map((time) => `${time.toFixed(1).padStart(6)} ms`).join("");
  console.log(
    `${name.padEnd(40)}${figures}${String(perSecond).padStart(8)}${((processorMilliseconds() - processorBefore) / REQUESTS).toFixed(2).padStart(8)} ms`,
  );
  if (p99 > MOST_MILLISECONDS) failures.push(`${name}: p99 ${p99.toFixed(1)} ms, at most ${MOST_MILLISECONDS} ms`);
  return p50;
}

/** Milliseconds until the answer was read; rejects unless it is 200. */
function get(url: string): Promise<number> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, headers: { authorization: `Bearer ${api_token}` } }, (response) => {
      response.resume();
      response.once("end", () => {
        if (response.statusCode === 200) resolve(performance.now() - began);
        else reject(new Error(`${url} answered ${response.statusCode}`));
      });
      response.once("error", reject);
    });
    sent.once("error", reject);
    sent.end();
  });
}

function compareAuditPages(medians: ReadonlyMap<string, number>): void {
  const [first = 0, last = 0] = [medians.get("audit log"), medians.get("audit log, last page")];
  const ratio = last / first;
  console.log(`\naudit log: the last page takes ${ratio.toFixed(2)} times the first`);
  if (ratio > 2) failures.push(`the last page of the audit log takes ${ratio.toFixed(2)} times the first, at most 2`);
}

/** Reads the whole log as CSV and watches the server's memory. */
async function measureCsv(): Promise<void> {
  const url = `${base_url}/api/v1/t/${workspace_id}/audit-log?format=csv`;
  await readLines(url); // the first one settles what the runtime keeps anyway
  const before = residentMegabytes();
  let most = before;
  const watch = setInterval(() => {
    most = Math.max(most, residentMegabytes());
  }, 20);
  const began = performance.now();
  const { lines, bytes } = await readLines(url);
  clearInterval(watch);
  const seconds = (performance.now() - began) / 1000;
  const growth = most - before;
  console.log(
    `CSV: ${lines - 1} entries, ${(bytes / 1e6).toFixed(1)} MB in ${seconds.toFixed(1)} s; resident memory ${before.toFixed(0)} MB before, at most ${most.toFixed(0)} MB meanwhile`,
  );
  if (lines - 1 < AUDIT_ENTRIES) failures.push(`the CSV holds ${lines - 1} entries`);
  if (growth > bytes / 1e6 / 2)
    failures.push(`memory grew by ${growth.toFixed(0)} MB for a CSV of ${(bytes / 1e6).toFixed(0)} MB`);
}

async function readLines(url: string): Promise<{ readonly lines: number; readonly bytes: number }> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${api_token}` } });
  let lines = 0;
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    for (const byte of chunk) if (byte === 10) lines += 1;
  }
  return { lines, bytes };
}

function residentMegabytes(): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

/** What the host's process has used so far, in steps of 10 ms; unlike the clock, other programs don't disturb it. */
function processorMilliseconds(): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(" ");
  return (Number(fields[13]) + Number(fields[14])) * 10;
}
