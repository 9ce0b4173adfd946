import { Agent, get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readOptions } from "../../../lib/local/read-options.ts";
import { RunningInstance } from "../../support/processes/instance.ts";
import { request } from "../ask.ts";
import { type Figure, median, percentile, report, say, sum } from "./figures.ts";
import { fillAuditLog, fillDeliveries, fillTriggerLog } from "./fill-logs.ts";
import { liveBytes, probed } from "./live-bytes.ts";

const HELP = `npm run bench:api [-- --rows 10000] [--only audit,deliveries] [--requests 500] [--json]

How fast the first pages of lists are answered beside a trigger log of 1,000,000 rows and an audit log of 100,000
entries, and for how many requests to DynamoDB. The instance is npm start in a process of its own, its beat running; two
connections send their next request when the last one is answered. Ends with 1 when a bar is missed.

  --rows      rows of the trigger log; the audit log has a tenth of it
  --only      the lists whose names begin with one of these
  --requests  how often each is asked: some seconds of it, so that one stall of the machine is not a percentile
  --json      the figures as JSON`;

const options = readOptions(HELP, {
  rows: { type: "string", default: "1000000" },
  only: { type: "string", default: "" },
  requests: { type: "string", default: "2000" },
  json: { type: "boolean", default: false },
});

const LOG_ROWS = Number(options.rows);
const AUDIT_ENTRIES = LOG_ROWS / 10;
const REQUESTS = Number(options.requests);
const CALLERS = 2;
const WARM_UP = 100;

/** Looks at the server's memory while it sends a CSV. */
const LOOKS = 20;
/** A server that kept the text would hold half of the file more in the second half; a fifth is allowed for chance. */
const MOST_GROWTH = 0.2;

const file = join(tmpdir(), `bridge-live-bytes-${process.pid}`);
const instance = new RunningInstance({ environment: { RATE_LIMIT_PER_MINUTE: "1000000000", ...probed(file) } });
const { base_url, workspace_id, api_token, pid } = await instance.start();
const callers = Array.from({ length: CALLERS }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
const isAsked = (name: string) => options.only.split(",").some((beginning) => name.startsWith(beginning.trim()));
try {
  say(`fills ${LOG_ROWS} rows of the trigger log, ${AUDIT_ENTRIES} audit entries`);
  const { body } = await instance.api("POST", "/webhooks", {
    url: "https://example.com/hook",
    events: ["sync.broken"],
  });
  const webhook = (body.data as { readonly id: string } | undefined)?.id ?? "";
  await Promise.all([
    fillTriggerLog(instance.dataDir, instance.file.database_url, LOG_ROWS),
    fillAuditLog(instance.dataDir, workspace_id ?? "", AUDIT_ENTRIES),
    fillDeliveries(instance.dataDir, workspace_id ?? "", webhook),
  ]);
  const figures: Figure[] = [];
  for (const [name, path] of Object.entries(lists(webhook)))
    if (isAsked(name)) figures.push(...(await measure(name, path)));
  const ofAudit = await Promise.all(
    ["/audit-log", `/audit-log?offset=${AUDIT_ENTRIES - 50}`].map((path) => timesOf(path)),
  );
  const [first = Number.NaN, last = Number.NaN] = ofAudit.map(({ times }) => median(times));
  figures.push({ name: "last page of the audit log, times the first", value: last / first, unit: "×", atMost: 2 });
  if (isAsked("csv")) figures.push(...(await measureCsv()));
  report(figures, options);
} finally {
  for (const caller of callers) caller.destroy();
  await instance.destroy();
}

function lists(webhookId: string): Readonly<Record<string, string>> {
  return {
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
}

async function measure(name: string, path: string): Promise<Figure[]> {
  const { times, requests } = await timesOf(path);
  return [
    { name: `${name}: p50`, value: median(times), unit: "ms" },
    { name: "  p95", value: percentile(times, 95), unit: "ms", atMost: 15 },
    { name: "  requests to DynamoDB", value: median(requests), unit: "", atMost: 3 },
  ];
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
    get(`${base_url}/api/v1/t/${workspace_id}${path}`, { agent, headers }, (response) => {
      const requests = Number(response.headers["x-bench-calls"]);
      if (response.statusCode !== 200) reject(new Error(`${path} answered ${response.statusCode}`));
      response.resume().once("end", () => resolve({ milliseconds: performance.now() - began, requests }));
    }).once("error", reject);
  });
}

/** Reads the whole log as CSV and stops after each twentieth of it to look at what the server holds. */
async function measureCsv(): Promise<Figure[]> {
  const url = `${base_url}/api/v1/t/${workspace_id}/audit-log?format=csv`;
  await (await request(url, api_token, "GET")).text(); // settles what the runtime keeps anyway
  const live: number[] = [];
  let [lines, bytes] = [0, 0];
  for await (const chunk of (await request(url, api_token, "GET")).body ?? []) {
    bytes += chunk.length;
    for (const byte of chunk) if (byte === 10) lines += 1;
    if (lines <= ((live.length + 1) * AUDIT_ENTRIES) / LOOKS) continue;
    const { heap, external } = await liveBytes(pid, file);
    live.push(heap + external);
  }
  const mean = (looks: readonly number[]) => sum(looks) / looks.length / 1e6;
  const grown = mean(live.slice(live.length / 2)) - mean(live.slice(0, live.length / 2));
  return [
    { name: "CSV: entries", value: lines - 1, unit: "", atLeast: AUDIT_ENTRIES },
    { name: "  memory in use without garbage, most", value: Math.max(...live) / 1e6, unit: "MB" },
    {
      name: "  in its second half more than in the first",
      value: grown,
      unit: "MB",
      atMost: (bytes * MOST_GROWTH) / 1e6,
    },
  ];
}
