import { type ChildProcess, execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { BUNDLES, build } from "../../../lib/infra/build.ts";
import { createApp } from "../../../lib/infra/synthesize.ts";
import { readOptions } from "../../../lib/local/read-options.ts";
import { QUEUES } from "../../../lib/model/resources.ts";
import { metricsOf, readAlarm } from "../../infra/alarms/read-alarm.ts";
import type { Resource } from "../../infra/assembly.ts";
import { type Bill, fixedCosts, monthOf, SERVICES, together, total } from "./cost/bill.ts";
import { DISTANCES } from "./cost/far-side.ts";
import type { Measured } from "./cost/measure-process.ts";
import { PRICES } from "./cost/prices.ts";
import type { Used } from "./cost/simulate.ts";

const HELP = `npm run bench:cost [-- --minutes 5] [--rows 10] [--json] [--no-cold-start]

What a mapping costs a month on AWS, by service. The deployed bundles run on a clock that is moved by hand, with the real
distances to everything (Salesforce ${DISTANCES.salesforce} ms, PostgreSQL ${DISTANCES.postgresConnect} ms to connect and ${DISTANCES.postgres} ms a trip, DynamoDB ${DISTANCES.dynamodb} ms), one call
at a time; what they take is multiplied by the prices of bench/cost/prices.ts.

  --minutes      simulated minutes of each stretch; 5 hold one of everything but what happens once a day, which is
                 measured alone
  --rows         rows that a busy mapping gets each minute
  --no-cold-start  leaves out what bench:bundles measures

What a deployment costs however much it does (polls of idle queues, its key) is shared out among its mappings. Alarms and
the dashboard, a stack that can be left out, are shown beside it, and so are Lambda's own log lines, which are off unless
asked for. Five pollers read each queue, as on Lambda. Fails when an idle mapping among 100 or 10,000 costs more than its
limit.`;

/** What a mapping may cost a month, idle on the ten-second beat, by how many a deployment has. */
const MOST_DOLLARS: Readonly<Record<number, number>> = { 100: 0.12, 10000: 0.08 };

/** What Lambda's own lines of a call take (platform.start and platform.report in JSON), where they are switched on. */
const PLATFORM_BYTES = 600;

/** Metrics of our own that are reported while all is well: rows accepted and failed, and silent mappings. */
const REPORTED_METRICS = 3;

const options = readOptions(HELP, {
  minutes: { type: "string", default: "5" },
  rows: { type: "string", default: "10" },
  json: { type: "boolean", default: false },
  "no-cold-start": { type: "boolean", default: false },
});

interface Line {
  readonly name: string;
  readonly mappings: number;
  readonly perMapping: Bill;
}

async function run(): Promise<void> {
  const [one, hundred] = [await measured(1), await measured(100)];
  const fixed = fixedCosts(Object.keys(QUEUES).length);
  const lineOf = (name: string, workspaces: number, { mappings, month }: Month): Line => ({
    name,
    mappings: workspaces * mappings,
    perMapping: divided(together(workspaces, month, fixed), workspaces * mappings),
  });
  const lines = [
    lineOf("1 mapping, idle", 1, one.idle),
    lineOf("1 mapping, busy", 1, one.busy),
    lineOf("100 mappings of a workspace, idle", 1, hundred.idle),
    lineOf("100 mappings of a workspace, busy", 1, hundred.busy),
    lineOf("10,000 mappings, 100 a workspace, idle", 100, hundred.idle),
    lineOf("10,000 mappings, 100 a workspace, busy", 100, hundred.busy),
  ];
  const isWell = lines.every(
    ({ name, mappings, perMapping }) =>
      name.endsWith("busy") || total(perMapping) <= (MOST_DOLLARS[mappings] ?? Number.POSITIVE_INFINITY),
  );
  if (options.json) console.log(JSON.stringify({ lines, most: MOST_DOLLARS, isWell }, null, 2));
  else report(lines, isWell, await watching());
  if (!isWell) process.exitCode = 1;
  if (!options["no-cold-start"] && !options.json) {
    console.log("\ncold start: what a function's bundle takes to be imported, beside Lambda's own start");
    execFileSync(process.execPath, [join(import.meta.dirname, "bundles.ts")], { stdio: "inherit" });
  }
}

interface Month {
  readonly mappings: number;
  readonly month: Bill;
}

async function measured(mappings: number): Promise<{ readonly idle: Month; readonly busy: Month }> {
  const child = fork(join(import.meta.dirname, "cost/measure-process.ts"), [
    String(mappings),
    options.minutes,
    options.rows,
  ]);
  const [found] = (await Promise.race([once(child, "message"), failed(child)])) as [Measured];
  tell(`${mappings} mappings, idle`, mappings, found.idle);
  tell(`${mappings} mappings, busy`, mappings, found.busy);
  const day = monthOf(found.day);
  return {
    idle: { mappings, month: together(1, monthOf(found.idle), day) },
    busy: { mappings, month: together(1, monthOf(found.busy), day) },
  };
}

async function failed(child: ChildProcess): Promise<never> {
  const [code] = (await once(child, "exit")) as [number];
  throw new Error(`the simulation ended with ${code}`);
}

const divided = (bill: Bill, by: number): Bill =>
  Object.fromEntries(SERVICES.map((name) => [name, bill[name] / by])) as unknown as Bill;

const NOTHING: Omit<Used, "seconds" | "logBytes"> = {
  ...{ functions: {}, sqsRequests: 0, firings: 0, kmsRequests: 0 },
  units: { read: 0, write: 0, calls: {} },
};

/** The figures behind the dollars. */
function tell(name: string, mappings: number, { seconds, functions, units, sqsRequests }: Used): void {
  progress(name);
  const beats = (mappings * seconds) / 10;
  for (const [name, { calls, records, milliseconds, processorMilliseconds }] of Object.entries(functions))
    progress(
      `  ${name}: ${calls} calls of ${(records / calls).toFixed(1)} messages, ` +
        `${(milliseconds / calls).toFixed(0)} ms each, ${(processorMilliseconds / calls).toFixed(1)} ms of processor`,
    );
  progress(
    `  a beat: ${(units.read / beats).toFixed(2)} read units, ${(units.write / beats).toFixed(3)} write units, ` +
      `${(sqsRequests / beats).toFixed(2)} SQS requests`,
  );
  const callsOfAll = Object.values(functions).reduce((sum, { calls }) => sum + calls, 0);
  const platform = monthOf({ ...NOTHING, seconds, logBytes: callsOfAll * PLATFORM_BYTES }).CloudWatch / mappings;
  progress(`  Lambda's own log lines would cost $${platform.toFixed(4)} a mapping and month`);
  const largestFirst = Object.entries(units.calls).sort(([, one], [, other]) => other.units - one.units);
  for (const [name, { calls, units: asked }] of largestFirst) progress(`    ${name}: ${calls} calls, ${asked} units`);
}

/** Dollars a month for the alarms by metric, the dashboard, and the metrics that are reported while all is well. */
async function watching(): Promise<number> {
  await build();
  const { Resources } = createApp({ bundles: BUNDLES }).synth().getStackByName("Bridge-dev-Alarms").template as {
    readonly Resources: Readonly<Record<string, Pick<Resource, "Type" | "Properties">>>;
  };
  const of = (type: string) => Object.values(Resources).filter(({ Type }) => Type === type);
  const metrics = of("AWS::CloudWatch::Alarm").flatMap(({ Properties }) => metricsOf(readAlarm(Properties)));
  const dashboards = of("AWS::CloudWatch::Dashboard").length * PRICES.dashboardMonth;
  return metrics.length * PRICES.alarmMetricMonth + dashboards + REPORTED_METRICS * PRICES.metricMonth;
}

function report(lines: readonly Line[], isWell: boolean, watched: number): void {
  const header = ["dollars a mapping and month".padEnd(40), ...SERVICES.map((name) => name.padStart(10)), "     total"];
  console.log(header.join(" "));
  for (const { name, perMapping } of lines) {
    const cells = SERVICES.map((service) => perMapping[service].toFixed(4).padStart(10));
    console.log([name.padEnd(40), ...cells, total(perMapping).toFixed(4).padStart(10)].join(" "));
  }
  console.log(`alarms, dashboard and metrics of a deployment: ${watched.toFixed(2)} a month`);
  const limits = Object.entries(MOST_DOLLARS).map(([mappings, most]) => `$${most.toFixed(2)} among ${mappings}`);
  console.log(`an idle mapping costs at most ${limits.join(", ")}: ${isWell ? "kept" : "MISSED"}`);
}

function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}

await run();
