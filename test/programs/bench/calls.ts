import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { readOptions } from "../../../lib/local/read-options.ts";
import { DEFAULT_SHARE, type Share } from "../../../lib/model/calls/plan.ts";
import { BURSTS, isBusiness, liveThrough, type Story, WHEN_QUIET } from "../../support/doubles/month-of-calls.ts";
import type { Counted } from "./calls/count-process.ts";
import { type CountedStory, IDLE, PLANNED } from "./calls/stories.ts";

const HELP = `npm run bench:calls [-- --hours 1] [--planned-hours 24] [--only counted|planned|months] [--json]

How many of an org's API calls Bridge makes.

counted  idle workspaces through the whole engine, schedules to org, on a clock that is stepped; the org counts. What is
         counted in --hours counts 24 times, with what happens once a day counted separately.
planned  the same with fewer calls than they want, for --planned-hours (24: the whole day, in 10 to 20 minutes), beside
         what the planner alone makes of it
months   the planner alone through 30 days: how long changes wait at each ceiling, as the table of lib/docs/budget.md

Fails when a workspace costs more than its limit, when forecast or planner and org differ by more than 5 %, or when a
month holds more calls in any 24 hours than the share.`;

const options = readOptions(HELP, {
  hours: { type: "string", default: "1" },
  "planned-hours": { type: "string", default: "24" },
  only: { type: "string" },
  json: { type: "boolean", default: false },
});

/** So far a forecast may be from what is counted. */
const MOST_APART = 0.05;

const CEILINGS: readonly (readonly [mappings: number, limit: number, share: Share])[] = [
  [1, 15_000, DEFAULT_SHARE],
  [10, 15_000, DEFAULT_SHARE],
  [10, 15_000, { share: 1, most: 8_000 }],
  [10, 100_000, DEFAULT_SHARE],
  [100, 15_000, DEFAULT_SHARE],
  [100, 100_000, DEFAULT_SHARE],
  [200, 200_000, DEFAULT_SHARE],
];

interface Line {
  readonly text: string;
  readonly isWell: boolean;
}

const PARTS: Readonly<Record<string, () => AsyncIterable<Line> | Iterable<Line>>> = { counted, planned, months };
const { only } = options;
if (only !== undefined && !(only in PARTS)) throw new Error(`--only ${only}: counted, planned or months`);
const lines: Line[] = [];
for (const part of only === undefined ? Object.keys(PARTS) : [only])
  for await (const line of PARTS[part]?.() ?? []) {
    lines.push(line);
    if (!options.json) console.log(`${line.text}${line.isWell ? "" : "   MISSED"}`);
  }
if (options.json) console.log(JSON.stringify(lines, null, 2));
if (!lines.every(({ isWell }) => isWell)) process.exitCode = 1;

async function* counted(): AsyncIterable<Line> {
  for (const story of IDLE) {
    const { callsPerDay, forecast, trouble } = await countedIn({ ...story, hours: Number(options.hours) });
    const most = story.atMost ?? Number.POSITIVE_INFINITY;
    const { refused, held, rejected } = trouble;
    const beside = story.hasTrouble ? ` (${refused} refused, ${held} held, ${rejected} rejected)` : "";
    const isTroubled = !story.hasTrouble || refused * held * rejected > 0;
    yield {
      text: `${story.name}${beside}: ${callsPerDay} calls a day, at most ${most}; forecast ${forecast} (${apart(forecast, callsPerDay)})`,
      isWell: callsPerDay <= most && isNear(forecast, callsPerDay) && isTroubled,
    };
  }
}

async function* planned(): AsyncIterable<Line> {
  const hours = Number(options["planned-hours"]);
  const { mappings, limit, share, name } = PLANNED;
  const { callsPerDay } = await countedIn({ ...PLANNED, hours });
  const alone = liveThrough({ mappings, limit, share, days: hours / 24 }).callsPerDay;
  yield {
    text: `${name}, ${hours} hours of a day: ${callsPerDay} calls a day, the planner alone ${alone} (${apart(alone, callsPerDay)})`,
    isWell: isNear(alone, callsPerDay) && callsPerDay <= share.share * limit,
  };
}

function* months(): Iterable<Line> {
  const header =
    "mappings | limit | share | what happens | p50 | p99 | longest | calls a day | most of the share in 24 hours";
  yield { text: `| ${header} |`, isWell: true };
  yield { text: "|---|---|---|---|---|---|---|---|---|", isWell: true };
  for (const [mappings, limit, share] of CEILINGS) {
    const others: Story["others"] = (minute) => (isBusiness(minute) ? (limit * 0.3) / 600 : 0);
    const stories = { idle: {}, bursts: BURSTS, others: { ...BURSTS, others }, quiet: WHEN_QUIET };
    for (const [name, more] of Object.entries(stories)) {
      const { p50, p99, longest, callsPerDay, mostOfShare } = liveThrough({
        mappings,
        limit,
        share,
        days: 30,
        ...more,
      });
      const of = [share.most ?? `${share.share * 100} %`, `${(100 * mostOfShare).toFixed(0)} %`];
      const cells = [mappings, limit, of[0], name, p50, p99, longest, callsPerDay, of[1]];
      yield { text: `| ${cells.join(" | ")} |`, isWell: mostOfShare <= 1 && longest <= 7_200 };
    }
  }
}

/** In a process of its own, for functions open their connections once in a process. */
async function countedIn(story: CountedStory): Promise<Counted> {
  const child = fork(join(import.meta.dirname, "calls/count-process.ts"), [JSON.stringify(story)]);
  const failed = once(child, "exit").then(([code]) => {
    throw new Error(`${story.name}: its process ended with ${code}`);
  });
  const found = once(child, "message").then(([message]) => message as Counted);
  return Promise.race([found, failed]);
}

function isNear(alone: number, found: number): boolean {
  return Math.abs(alone - found) <= MOST_APART * found;
}

function apart(alone: number, found: number): string {
  return `${((100 * (alone - found)) / found).toFixed(1)} % apart`;
}
