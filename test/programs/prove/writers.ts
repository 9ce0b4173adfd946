import { readOptions } from "../../../lib/local/read-options.ts";
import { chanceOf, judge, type Meeting, storyOf, type Verdict } from "./writers/judge.ts";
import { type Lane, lanesFor } from "./writers/lanes.ts";
import { readEvidence, untilEqual } from "./writers/read-evidence.ts";
import { openStage } from "./writers/stage.ts";
import { type Written, writeDoubly } from "./writers/write-doubly.ts";

const HELP = `npm run prove:writers [-- options]: the application writes a field of a row, and a colleague in Salesforce the
same field of its record, within a second before or after. By each conflict policy, with pulls every ten seconds and every ten
minutes, as single rows and as heaps that a Bulk job saves. The org notes in which order it commits and answers, and a judge
that knows nothing of the engine compares: what was committed before Bridge last read must be decided by the policy, with
both values in a conflict; and no more may fall between check and save than the time between them explains.

  --seed N     the same writers again (chosen and printed unless given)
  --check off  without the check before a save, which must fail
  --brief      60 double writes in a minute or two, one heap for each policy
  --json       the result as one line of JSON

Ends with 1 when a double write was decided wrongly.`;

const options = readOptions(HELP, {
  seed: { type: "string" },
  check: { type: "string" },
  brief: { type: "boolean", default: false },
  json: { type: "boolean" },
});

/** The program ends after so long, whatever it waits for. */
const LONGEST_MINUTES = 20;

interface Judged extends Verdict {
  readonly write: Written;
  readonly story: readonly string[];
}

const seed = Number(options.seed ?? Date.now() % 1_000_000);
if (options.check === undefined || options.check === "off") await prove(lanesFor(options.brief, !options.check));
else {
  console.error(`--check ${options.check}: only off`);
  process.exitCode = 1;
}

async function prove(lanes: readonly Lane[]): Promise<void> {
  const began = Date.now();
  const seconds = () => Math.round((Date.now() - began) / 1000);
  const say = (text: string) => console.error(`${String(seconds()).padStart(4)} s  ${text}`);
  say(`seed ${seed}`);
  const written: Written[] = [];
  setTimeout(() => {
    console.error(`not ended after ${LONGEST_MINUTES} minutes`);
    process.exit(1);
  }, LONGEST_MINUTES * 60_000).unref();
  const stage = await openStage(lanes, say);
  try {
    await writeDoubly(stage, lanes, seed, written);
    say(`${written.length} double writes were answered; both sides are compared`);
    const differing = await untilEqual(stage, lanes);
    const judged: Judged[] = [];
    for (const lane of lanes) {
      const its = written.filter((write) => write.lane === lane);
      for (const [write, found] of await readEvidence(stage, lane, its)) {
        const verdict = judge(write, found);
        judged.push({ ...verdict, write, story: verdict.violation === null ? [] : storyOf(found) });
      }
    }
    report(lanes, judged, differing, seconds());
  } finally {
    await stage.close();
  }
}

function report(lanes: readonly Lane[], judged: readonly Judged[], differing: number, seconds: number): void {
  const ways = (["single", "heap"] as const).map((way) => ({
    way,
    ...chanceOf(judged.filter(({ write }) => write.lane.way === way)),
  }));
  const violations = judged.filter(({ violation }) => violation !== null);
  const isProven = violations.length === 0 && differing === 0 && ways.every(({ between, atMost }) => between <= atMost);
  process.exitCode = isProven ? 0 : 1;
  const lines = lanes.map((lane) => lineOf(lane, judged));
  if (options.json) {
    console.log(JSON.stringify({ seed, seconds, isProven, differing, lanes: lines, ways, violations }));
    return;
  }
  console.table(lines);
  for (const way of ways) console.log(textOf(way));
  for (const { write, violation, story } of violations.slice(0, 20))
    console.log(`WRONG ${write.lane.object} ${write.sfid} ${write.field}: ${[violation, ...story].join("\n  ")}`);
  if (differing > 0) console.log(`WRONG ${differing} records differ from their rows`);
  const end = isProven ? "every double write was decided by its policy" : "NOT PROVEN";
  console.log(
    `${end}: ${judged.length} double writes, ${violations.length} violations, in ${seconds} s (seed ${seed})`,
  );
}

function lineOf(lane: Lane, judged: readonly Judged[]) {
  const its = judged.filter(({ write }) => write.lane === lane);
  const met = (meeting: Meeting) => its.filter((one) => one.meeting === meeting).length;
  return {
    policy: lane.policy,
    check: lane.check,
    pull: lane.pollingSeconds,
    way: lane.way,
    writes: its.length,
    judged: met("judged"),
    after: met("after"),
    known: met("known"),
    equal: met("equal"),
    between: met("between"),
    overwritten: its.filter(({ isOverwritten }) => isOverwritten).length,
    violations: its.filter(({ violation }) => violation !== null).length,
  };
}

function textOf({ way, ...chance }: ReturnType<typeof chanceOf> & Pick<Lane, "way">): string {
  const { writes: of, between, overwritten, median, p95, ofTenSeconds, expected, atMost } = chance;
  const share = `${between} of ${of} (${((100 * between) / Math.max(1, of)).toFixed(1)} %, ${overwritten} of them overwritten)`;
  const time = `median ${median.toFixed(0)} ms, 95th percentile ${p95.toFixed(0)} ms`;
  const bound = `${ofTenSeconds.toFixed(1)} by that time in ten seconds, ${expected.toFixed(1)} by when each was checked, at most ${atMost.toFixed(1)}`;
  return `${way.padEnd(6)} between check and save: ${time}; ${share}; ${bound}${between > atMost ? "   TOO MANY" : ""}`;
}
