import { readOptions } from "../../../lib/local/read-options.ts";
import { DEFAULT_SHARE, type Share } from "../../../lib/model/calls/plan.ts";
import { BURSTS, isBusiness, liveThrough, type Story, WHEN_QUIET } from "../../support/doubles/month-of-calls.ts";
import { apart } from "./apart.ts";
import { COUNT_PROGRAM, type Counted, type CountedStory } from "./calls/count-process.ts";
import { type Figure, report, say } from "./figures.ts";

const HELP = `npm run bench:calls [-- --hours 1] [--only counted|planned|months] [--json]

How many of an org's API calls Bridge makes.

counted  idle workspaces through the whole engine, schedules to org, on a clock that is stepped; the org counts. An hour
         counts 24 times, with what happens once a day counted separately.
planned  a day of fewer calls than ten mappings want, in 10 to 20 minutes, beside what the planner alone makes of it
months   the planner alone through 30 days: how long changes wait at each ceiling, as the table of lib/docs/budget.md

  --hours  another length of what is counted and planned
  --json   the figures as JSON

Fails when a workspace costs more than its limit, when forecast or planner and org differ by more than 5 %, or when a
month holds more calls in any 24 hours than the share.`;

const options = readOptions(HELP, {
  hours: { type: "string" },
  only: { type: "string", default: "counted,planned,months" },
  json: { type: "boolean", default: false },
});

/** Per cent that a forecast may be from what is counted. */
const MOST_APART = 5;

const PLENTY = { whenQuiet: null, hasTrouble: false, hasDoorbells: false, limit: 1_000_000, share: DEFAULT_SHARE };

/** What idle mappings may cost a day. */
const IDLE: readonly (Partial<CountedStory> & { readonly mappings: number; readonly atMost: number })[] = [
  { mappings: 5, atMost: 9_600 },
  { mappings: 5, hasTrouble: true, atMost: 9_600 },
  { mappings: 50, atMost: 91_000 },
  { mappings: 5, whenQuiet: 60, atMost: 2_500 },
  { mappings: 50, whenQuiet: 60, atMost: 18_000 },
  { mappings: 5, hasDoorbells: true, atMost: 600 },
  { mappings: 50, hasDoorbells: true, atMost: 5_000 },
];

/** Ten mappings want 17,280 of a Developer Edition's calls. */
const PLANNED = { ...PLENTY, mappings: 10, limit: 15_000 };

const CEILINGS: readonly (readonly [mappings: number, limit: number, share: Share])[] = [
  [1, 15_000, DEFAULT_SHARE],
  [10, 15_000, DEFAULT_SHARE],
  [10, 15_000, { share: 1, most: 8_000 }],
  [10, 100_000, DEFAULT_SHARE],
  [100, 15_000, DEFAULT_SHARE],
  [100, 100_000, DEFAULT_SHARE],
  [200, 200_000, DEFAULT_SHARE],
];

const PARTS: Readonly<Record<string, () => Promise<Figure[]>>> = { counted, planned, months };
const figures: Figure[] = [];
for (const name of options.only.split(",")) {
  const part = PARTS[name];
  if (!part) throw new Error(`--only ${name}: counted, planned or months`);
  figures.push(...(await part()));
}
report(figures, options);

async function counted(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { atMost, ...story } of IDLE) {
    const whole = { ...PLENTY, hours: Number(options.hours ?? 1), ...story };
    const { callsPerDay, forecast, trouble } = await countedIn(whole);
    const { mappings, whenQuiet, hasTrouble, hasDoorbells } = whole;
    const how = `${whenQuiet ? `, when_quiet ${whenQuiet} s` : ""}${hasDoorbells ? ", doorbells" : ""}`;
    figures.push(
      { name: `${mappings} idle mappings${how}: calls a day`, value: callsPerDay, unit: "", atMost },
      { name: "  the forecast, apart", value: apartBy(forecast, callsPerDay), unit: "%", atMost: MOST_APART },
    );
    if (!hasTrouble) continue;
    for (const [what, value] of Object.entries(trouble))
      figures.push({ name: `  rows ${what} meanwhile`, value, unit: "", atLeast: 1 });
  }
  return figures;
}

async function planned(): Promise<Figure[]> {
  const hours = Number(options.hours ?? 24);
  const { callsPerDay } = await countedIn({ ...PLANNED, hours });
  const { mappings, limit, share } = PLANNED;
  const alone = liveThrough({ mappings, limit, share, days: hours / 24 }).callsPerDay;
  return [
    { name: "10 mappings on 15,000 calls: calls a day", value: callsPerDay, unit: "", atMost: share.share * limit },
    { name: "  the planner alone", value: alone, unit: "" },
    { name: "  apart", value: apartBy(alone, callsPerDay), unit: "%", atMost: MOST_APART },
  ];
}

async function months(): Promise<Figure[]> {
  return CEILINGS.flatMap(([mappings, limit, share]) => {
    const others: Story["others"] = (minute) => (isBusiness(minute) ? (limit * 0.3) / 600 : 0);
    const stories = { idle: {}, bursts: BURSTS, others: { ...BURSTS, others }, quiet: WHEN_QUIET };
    return Object.entries(stories).flatMap(([name, more]): Figure[] => {
      const lived = liveThrough({ mappings, limit, share, days: 30, ...more });
      const of = share.most ?? `${share.share * 100} %`;
      return [
        { name: `${mappings} | ${limit} | ${of} | ${name}: p50`, value: lived.p50, unit: "s" },
        { name: "  p99", value: lived.p99, unit: "s" },
        { name: "  longest", value: lived.longest, unit: "s", atMost: 7_200 },
        { name: "  calls a day", value: lived.callsPerDay, unit: "" },
        { name: "  most of the share in 24 hours", value: 100 * lived.mostOfShare, unit: "%", atMost: 100 },
      ];
    });
  });
}

/** In a process of its own, for functions open their connections once in a process. */
function countedIn(story: CountedStory): Promise<Counted> {
  say(JSON.stringify(story));
  return apart<Counted>(COUNT_PROGRAM, [JSON.stringify(story)]);
}

/** Per cent. */
function apartBy(alone: number, found: number): number {
  return Math.abs((100 * (alone - found)) / found);
}
