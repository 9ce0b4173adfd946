import { Agent, get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readOptions } from "../../../lib/local/read-options.ts";
import { RunningInstance } from "../../support/processes/instance.ts";
import { request } from "../ask.ts";
import { type Figure, median, percentile, report, say, sum } from "./figures.ts";
import { fillAuditLog, fillDeliveries, fillTriggerLog } from "./fill-logs.ts";
import { liveBytes, probed } from "./live-bytes.ts";

const HELP = `npm run bench:api [-- --rows 10000] [--json]

How fast the first pages of lists are answered beside a trigger log of 1,000,000 rows and an audit log of 100,000
entries, and for how many requests to DynamoDB. The instance is npm start in a process of its own, its beat running; two
connections send their next request when the last one is answered. Ends with 1 when a bar is missed.

  --rows  rows of the trigger log; the audit log has a tenth of it
  --json  the figures as JSON`;

const options = readOptions(HELP, {
  rows: { type: "string", default: "1000000" },
  json: { type: "boolean", default: false },
});

const LOG_ROWS = Number(options.rows);
const AUDIT_ENTRIES = LOG_ROWS / 10;
/** Some seconds of them, so that one stall of the machine is not a percentile. */
const REQUESTS = 2000;
const CALLERS = 2;
const WARM_UP = 100;

/** Looks at the server's memory while it sends a CSV. */
const LOOKS = 20;
/** A server that kept the text would hold half of the file more in the second half; a fifth is allowed for chance. */
const MOST_GROWTH = 0.2;

const file = join(tmpdir(), `bridge-live-bytes-${process.pid}`);
const callProbe = join(import.meta.dirname, "call-probe.ts");
const instance = new RunningInstance({
  environment: { RATE_LIMIT_PER_MINUTE: "1000000000", ...probed(file, callProbe) },
});
const { base_url, workspace_id, api_token, pid } = await instance.start();
const workspaceUrl = `${base_url}/api/v1/t/${workspace_id}`;
const callers = Array.from({ length: CALLERS }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
try {
  say(`fills ${LOG_ROWS} rows of the trigger log, ${AUDIT_ENTRIES} audit entries`);
  const { body } = await instance.api("POST", "/webhooks", {
    url: "https://example.com/hook",
    events: ["sync.broken"],
  });
  const { id: webhook } = body.data as { readonly id: string };
  await fillTriggerLog(instance.dataDir, instance.file.database_url, LOG_ROWS);
  await fillAuditLog(instance.dataDir, workspace_id ?? "", AUDIT_ENTRIES);
  await fillDeliveries(instance.dataDir, workspace_id ?? "", webhook);
  const figures: Figure[] = [];
  const medians: number[] = [];
  for (const path of [
    "/mappings",
    "/monitoring/activity",
    "/monitoring/activity?table=contact&limit=200",
    "/monitoring/activity?state=NEW",
    "/monitoring/activity?state=FAILED&table=contact",
    "/monitoring/errors",
    `/webhooks/${webhook}/deliveries`,
    "/audit-log?actor=actor4@example.com&action=mapping.updated",
    "/audit-log",
    `/audit-log?offset=${AUDIT_ENTRIES - 50}`,
  ]) {
    const { times, requests } = await timesOf(path);
    medians.push(median(times));
    figures.push(
      { name: `${path.replace(webhook, "{id}")}: p50`, value: median(times), unit: "ms" },
      { name: "  p95", value: percentile(times, 95), unit: "ms", atMost: 15 },
      { name: "  requests to DynamoDB", value: median(requests), unit: "", atMost: 3 },
    );
  }
  const [first = Number.NaN, last = Number.NaN] = medians.slice(-2);
  figures.push({ name: "last page of the audit log, times the first", value: last / first, unit: "×", atMost: 2 });
  report([...figures, ...(await measureCsv())], options);
} finally {
  for (const caller of callers) caller.destroy();
  await instance.destroy();
}

/** Asks for one path from all callers at once, when it has been asked for often enough to be warm. */
async function timesOf(path: string): Promise<{ readonly times: number[]; readonly requests: number[] }> {
  const answers = { times: [] as number[], requests: [] as number[] };
  let left = WARM_UP + REQUESTS;
  const askOn = async (agent: Agent) => {
    while (left-- > 0) {
      const isWarm = left < REQUESTS;
      const { milliseconds, requests } = await answerOf(agent, path);
      if (!isWarm) continue;
      answers.times.push(milliseconds);
      answers.requests.push(requests);
    }
  };
  await Promise.all(callers.map(askOn));
  return answers;
}

/** How long an answer takes to its end, and how many requests to DynamoDB were sent for it (`call-probe.ts`). */
function answerOf(agent: Agent, path: string): Promise<{ readonly milliseconds: number; readonly requests: number }> {
  const headers = { authorization: `Bearer ${api_token}` };
  const began = performance.now();
  return new Promise((resolve, reject) => {
    get(`${workspaceUrl}${path}`, { agent, headers }, (response) => {
      const requests = Number(response.headers["x-bench-calls"]);
      if (response.statusCode !== 200) reject(new Error(`${path} answered ${response.statusCode}`));
      response.resume().once("end", () => resolve({ milliseconds: performance.now() - began, requests }));
    }).once("error", reject);
  });
}

/** Reads the whole log as CSV and stops after each twentieth of it to look at what the server holds. */
async function measureCsv(): Promise<Figure[]> {
  const url = `${workspaceUrl}/audit-log?format=csv`;
  await (await request(url, api_token, "GET")).text(); // settles what the runtime keeps anyway
  const live: number[] = [];
  let [lines, bytes] = [0, 0];
  for await (const chunk of (await request(url, api_token, "GET")).body ?? []) {
    bytes += chunk.length;
    for (const byte of chunk) if (byte === 10) lines += 1;
    if (lines <= ((live.length + 1) * AUDIT_ENTRIES) / LOOKS) continue;
    const { heap, external } = await liveBytes(pid, file);
    live.push((heap + external) / 1e6);
  }
  const mean = (looks: readonly number[]) => sum(looks) / looks.length;
  const grown = mean(live.slice(live.length / 2)) - mean(live.slice(0, live.length / 2));
  const most = (bytes * MOST_GROWTH) / 1e6;
  return [
    { name: "CSV: entries", value: lines - 1, unit: "", atLeast: AUDIT_ENTRIES },
    { name: "  memory in use without garbage, most", value: Math.max(...live), unit: "MB" },
    { name: "  in its second half more than in the first", value: grown, unit: "MB", atMost: most },
  ];
}
