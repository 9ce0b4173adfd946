import { beforeAll, expect, test } from "vitest";
import { METRICS_NAMESPACE } from "../../../lib/infra/grant-access.ts";
import { type Assembly, synthesizeFixtures } from "../assembly.ts";
import { AWS_METRICS } from "./aws-metrics.ts";
import { OUTAGES, QUIET, readOutages } from "./outages.ts";
import { bySeries, metricsOf, type ReadAlarm, readAlarm, ringsAt } from "./read-alarm.ts";

/** Each line of lib/infra/OUTAGES.md, by the alarms of the template and what is measured in the outage. */

let alarms: readonly ReadAlarm[];
let dev: Assembly;

beforeAll(async () => {
  dev = await synthesizeFixtures();
  alarms = dev.all("AWS::CloudWatch::Alarm").map(({ Properties }) => readAlarm(Properties));
});

const LINES = readOutages();

const samplesOf = (measured: (minute: number) => ReturnType<typeof QUIET>, minutes: number) =>
  bySeries(Array.from({ length: minutes }, (_, minute) => measured(minute).map((one) => ({ ...one, minute }))).flat());

test("at least 24 outages are listed, each with what is measured in it, and every alarm is one's", () => {
  expect(LINES.length).toBeGreaterThanOrEqual(24);
  expect(LINES.map(({ outage }) => outage).sort()).toEqual(Object.keys(OUTAGES).sort());
  const named = new Set(LINES.map(({ alarm }) => `bridge-dev-${alarm}`));
  const unnamed = alarms.map(({ name }) => name).filter((name) => !named.has(name));
  expect(unnamed.filter((name) => !/dead-letters|worker-dies/.test(name))).toEqual([]);
});

test.each(LINES)("$outage: $alarm rings within $minutes minutes", ({ outage, alarm, section, minutes }) => {
  const measured = OUTAGES[outage];
  const named = alarms.find(({ name }) => name === `bridge-dev-${alarm}`);
  if (!measured || !named) throw new Error(`nothing is known of ${outage}, or there is no alarm ${alarm}`);
  // An outage begins at any minute of an alarm's period: at each, the alarm rings in time and not before.
  for (const lead of [15, 16, 17, 18, 19]) {
    const until = lead + minutes;
    const samples = samplesOf((minute) => (minute < lead ? QUIET(minute + 1) : measured(minute - lead)), until + 5);
    const [first = Number.POSITIVE_INFINITY] = ringsAt(named, samples, until);
    expect(first, `it begins at minute ${lead}`).toBeGreaterThan(lead);
    expect(first, `it begins at minute ${lead}`).toBeLessThanOrEqual(until);
  }
  const description = dev
    .all("AWS::CloudWatch::Alarm")
    .find(({ Properties }) => String(Properties["AlarmName"]) === named.name)?.Properties["AlarmDescription"];
  expect(String(description)).toContain(`lib/infra/RUNBOOK.md#${section}`);
});

test("none rings in a quiet week, nor in a quiet day without an active mapping", () => {
  const isSwept = ({ name, dimensions }: ReturnType<typeof QUIET>[number]) =>
    ["MappingsSilent", "Invocations"].includes(name) && !String(dimensions["FunctionName"]).includes("cycle");
  const idle = QUIET(1).filter(isSwept);

  for (const [measured, minutes] of [
    [QUIET, 7 * 1440],
    [() => idle, 1440],
  ] as const) {
    const samples = samplesOf(measured, minutes);
    expect(alarms.filter((alarm) => ringsAt(alarm, samples, minutes).length > 0).map(({ name }) => name)).toEqual([]);
  }
});

test("an alarm watches what AWS documents, by its own dimensions, or what Bridge reports of the stage", () => {
  const unknown = alarms.flatMap((alarm) =>
    metricsOf(alarm).filter(({ namespace, name, dimensions }) => {
      const names = Object.keys(dimensions).sort();
      const known = namespace === METRICS_NAMESPACE ? ["Stage"] : AWS_METRICS[`${namespace} ${name}`];
      return JSON.stringify(known) !== JSON.stringify(names);
    }),
  );

  expect(unknown).toEqual([]);
});
