import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { gatherFigures, reportPaused, reportSwept } from "../../functions/invocation/emit-figures.ts";
import { readPages } from "../../lib/infra/build-docs.ts";
import { moreText } from "../../lib/metrics/more-series.ts";
import { metricsText } from "../../lib/metrics/scrape.ts";
import { QUEUES } from "../../lib/model/resources.ts";
import { sampleReport } from "../support/doubles/sample-report.ts";
import { metricsOf, readAlarm } from "./alarms/read-alarm.ts";
import { type Assembly, MANY_OPTIONS, type Resource, synthesizeFixtures, TOPIC } from "./assembly.ts";

const FOLDER = join(import.meta.dirname, "../../lib/infra");
const RUNBOOK = readFileSync(join(FOLDER, "RUNBOOK.md"), "utf8");
const RULES = readFileSync(join(FOLDER, "prometheus-rules.yaml"), "utf8");
const GRAFANA = readFileSync(join(FOLDER, "grafana.json"), "utf8");

let dev: Assembly;
let withTopic: Assembly;

beforeAll(async () => {
  dev = await synthesizeFixtures();
  withTopic = await synthesizeFixtures(MANY_OPTIONS);
});

afterEach(() => vi.unstubAllEnvs());

test("each alarm and rule links to a section that says what it means, where to look and what to do", () => {
  const linked = alarms(dev).map(({ Properties }) => sectionIn(String(Properties["AlarmDescription"])));
  const rules = [...RULES.matchAll(/runbook_url: https:\/\/bridge\.example\/docs\/(.*)/g)].map(([, link = ""]) => link);
  const sections = RUNBOOK.split(/^## /m).slice(1);
  const served = readPages().flatMap((page) => page.sections.map(({ id }) => id));

  // As an array: of two sections of one name a link leads to the first only.
  const ofRules = rules
    .map((link) => link.replace("runbook#", ""))
    .filter((name) => name !== "why-a-mapping-is-broken");
  expect([...new Set([...linked, ...ofRules])].sort()).toEqual(
    sections.map((section) => section.split("\n")[0]).sort(),
  );
  expect(rules).toHaveLength(RULES.split("- alert: ").length - 1);
  expect(served).toEqual(expect.arrayContaining(rules));
  for (const section of sections) {
    expect.soft(section).toMatch(/\*\*It means\*\*.*\n\n\*\*Look\*\*.*\n\n\*\*Do\*\*/);
  }
});

test("a message that ends in the dead letters of any queue rings, and deliveries that wait in both of first attempts", () => {
  const watched = (metric: string) =>
    alarms(dev)
      .filter(({ Properties }) => String(Properties["MetricName"]) === metric)
      .map(({ Properties }) => String(Properties["Dimensions"]?.["0"]?.["Value"]));
  const queues = dev.all("AWS::SQS::Queue").map(({ Properties }) => String(Properties["QueueName"]));
  const dead = queues.filter((name) => name.endsWith("-dead"));

  expect(dead).toHaveLength(Object.keys(QUEUES).length);
  expect(watched("ApproximateNumberOfMessagesVisible").sort()).toEqual(dead.sort());
  expect(watched("ApproximateAgeOfOldestMessage")).toEqual(
    expect.arrayContaining(["bridge-dev-deliveries", "bridge-dev-slow-deliveries"]),
  );
});

/** What each alarm rings above, and after how many periods of five minutes, as RUNBOOK.md and OUTAGES.md reckon. */
const BARS: Readonly<Record<string, readonly [above: number, periods: number]>> = {
  "cycles-missing": [0, 2],
  "cycles-late": [900, 2],
  "cycles-failing": [25, 2],
  "sweeper-silent": [1, 2], // below that
  "mappings-silent": [0, 2],
  "mappings-broken": [0, 2],
  "provisioning-overdue": [900, 2],
  "loads-overdue": [1800, 2],
  "deliveries-overdue": [300, 2],
  "slow-deliveries-overdue": [1800, 2],
  "events-overdue": [300, 2],
  "api-faults": [5, 1],
  "rows-waiting": [900, 2],
  "rows-failing": [20, 3],
  "org-budget": [85, 1],
  "deletes-held": [0, 1],
  paused: [86_400, 1],
  throttles: [0, 2],
  "metrics-failing": [3, 2],
  "dynamodb-failing": [10, 2],
  "key-unusable": [0, 1],
  "worker-dies-sweep-minute": [0, 2],
};

test("each alarm rings at its figure, after its time, and a death or a dead letter at once", () => {
  const found = alarms(dev).map(({ Properties: { AlarmName, Threshold, EvaluationPeriods } }) => {
    const name = String(AlarmName).replace("bridge-dev-", "");
    const atOnce = /^(worker-dies|dead-letters)-/.test(name) ? ([0, 1] as const) : undefined;
    return [name, [Threshold, EvaluationPeriods], BARS[name] ?? atOnce];
  });

  expect(found.map(([name]) => name)).toEqual(expect.arrayContaining(Object.keys(BARS)));
  for (const [name, bar, due] of found) expect.soft(bar, String(name)).toEqual(due);
});

test("every queue, function and API that an alarm watches exists by that name", () => {
  const existing = new Set(
    [...dev.all("AWS::SQS::Queue"), ...dev.all("AWS::Lambda::Function"), ...dev.all("AWS::ApiGateway::RestApi")].map(
      ({ Properties: { QueueName, FunctionName, Name } }) => String(QueueName ?? FunctionName ?? Name),
    ),
  );
  const watched = JSON.stringify(alarms(dev)).matchAll(
    /"Name":"(?:QueueName|FunctionName|ApiName)","Value":"([^"]+)"/g,
  );
  const names = [...watched].map(([, name = ""]) => name);

  const ofAws = alarms(dev).filter((alarm) => !JSON.stringify(alarm).includes('"Namespace":"Bridge"'));
  expect(names.length).toBeGreaterThan(ofAws.length - 2);
  expect(names.filter((name) => !existing.has(name))).toEqual([]);
});

test("what an alarm watches of the rows is what the cycles report, stage by stage", () => {
  const lines: string[] = [];
  vi.stubEnv("METRICS_NAMESPACE", String(dev.environmentOf("run-cycle")["METRICS_NAMESPACE"]));
  vi.stubEnv("STAGE", "dev");
  const gathered = gatherFigures((line) => lines.push(line));
  gathered.add({ accepted: 1, refused: 1, oldestWaitingSeconds: 1000, budgetShare: 0.9, heldDeletes: 7, failed: true });
  gathered.emit(1);
  reportPaused(new Date(0), (line) => lines.push(line));
  reportSwept({ silent: 1, broken: 1 }, false, (line) => lines.push(line));
  const { _aws, Stage, ...figures } = Object.assign({}, ...lines.map((line) => JSON.parse(line)));

  const watched = alarms(dev)
    .flatMap(({ Properties }) => [
      Properties,
      ...Object.values(Properties["Metrics"] ?? {}).map((one) => one["MetricStat"]?.["Metric"] ?? {}),
    ])
    .filter(({ Namespace }) => String(Namespace) === "Bridge");

  expect(_aws.CloudWatchMetrics[0]).toMatchObject({ Namespace: "Bridge", Dimensions: [["Stage"]] });
  expect(new Set(watched.map(({ MetricName }) => String(MetricName)))).toEqual(new Set(Object.keys(figures)));
  for (const { Dimensions } of watched) expect(Dimensions).toEqual([{ Name: "Stage", Value: Stage }]);
});

test("an alarm rings when no beat comes, because then there are no figures", () => {
  const sweeper = alarms(dev).find(({ Properties }) => String(Properties["AlarmName"]) === "bridge-dev-sweeper-silent");

  expect(sweeper?.Properties).toMatchObject({ TreatMissingData: "breaching", ComparisonOperator: "LessThanThreshold" });
});

test("each metric that an alarm watches is in the price, by alarm and in all", () => {
  const page = readFileSync(join(FOLDER, "../docs/cost.md"), "utf8");
  const count = (alarm: string) => {
    const name = new RegExp(`^bridge-dev-${alarm.replace("*", ".*")}$`);
    const watching = alarms(dev).filter(({ Properties }) => name.test(String(Properties["AlarmName"])));
    return watching.reduce((sum, { Properties }) => sum + metricsOf(readAlarm(Properties)).length, 0);
  };
  const rows = [...page.matchAll(/^\| (`[a-z*-]+`.*) \| (\d+) \| ([\d.]+) \|$/gm)];

  for (const [, names = "", metrics, dollars] of rows) {
    const watched = [...names.matchAll(/`([a-z*-]+)`/g)].reduce((sum, [, name = ""]) => sum + count(name), 0);
    expect.soft([names, watched, (watched * 0.1).toFixed(2)]).toEqual([names, Number(metrics), dollars]);
  }
  expect(rows.reduce((sum, [, , metrics]) => sum + Number(metrics), 0)).toBe(count("*"));
  expect(page).toContain(`| ${alarms(dev).length} alarms on ${count("*")} metrics (${(count("*") * 0.1).toFixed(2)})`);
});

test("alarms and their ends are sent to the topic that the operator names, and nowhere else", () => {
  expect(alarms(dev).filter(({ Properties }) => Properties["AlarmActions"])).toEqual([]);
  for (const { Properties } of alarms(withTopic)) {
    expect(Properties).toMatchObject({ AlarmActions: [TOPIC], OKActions: [TOPIC] });
  }
});

test("the dashboard shows every figure that an alarm watches", () => {
  const [dashboard] = dev.all("AWS::CloudWatch::Dashboard");
  const body = JSON.stringify(dashboard?.Properties["DashboardBody"]);

  expect(body.split('\\"type\\":\\"metric\\"').length - 1).toBe(alarms(dev).length);
});

test("the rules for Prometheus and Grafana's dashboard ask for metrics that the endpoint has", () => {
  const asked = (RULES + GRAFANA).matchAll(/\bbridge_\w+/g).map(([name]) => name);
  const text =
    metricsText({ totals: [], depths: [], calls: [], pauses: [{ workspaceId: "ws", since: null }] }) +
    moreText(new Map([["ws", sampleReport()]]), new Date());
  const known = text.matchAll(/^# TYPE (\w+)/gm).map(([, name]) => name);

  expect([...known]).toEqual(expect.arrayContaining([...new Set(asked)]));
});

const alarms = (assembly: Assembly): Resource[] => assembly.all("AWS::CloudWatch::Alarm");

const sectionIn = (link: string): string => link.split("lib/infra/RUNBOOK.md#")[1] ?? link;
