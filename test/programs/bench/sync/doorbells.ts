import { setTimeout as pause } from "node:timers/promises";
import type { BenchServer } from "./bench-database.ts";
import { control } from "./bench-org.ts";
import { type Figure, percentile, type Sizes } from "./figure.ts";
import { type Change, followChanges, recordsToRows, rowsToRecords, secondsOf } from "./follow-changes.ts";
import { type HostedMapping, onHostedMapping } from "./hosted-mapping.ts";

const OBJECT = "Rung__c";
const LOOK_MILLISECONDS = 40;
const FIRST_PAGE = /WHERE[ +]SystemModstamp[ +]>=/;
/** Changes before the first that counts. */
const WARM_SECONDS = 10;
/** A death that is not noticed within so long is not waited for any longer. */
const PATIENCE_SECONDS = 600;

/** Milliseconds of `performance.now` at which each part of the measurement began. */
interface Phases {
  readonly alive: number;
  readonly dead: number;
  readonly noticed: number;
  readonly end: number;
  /** Pulls while the doorbells were alive. */
  readonly pulls: number;
}

/**
 * From commit to the other side while both doorbells ring, the org's outbound message and the application's nudge; then
 * both go silent for good: how long until that is noticed, and what changes wait from then on. Changes continue throughout.
 */
export async function measureDoorbells(
  server: BenchServer,
  { rungPerMinute, rungSeconds }: Sizes,
  say: (text: string) => void,
): Promise<Figure[]> {
  process.env["STAGE"] = "dev"; // the service may ring itself on this machine
  return onHostedMapping(server, { object: OBJECT, notify: true }, async (hosted) => {
    const { client, org } = hosted;
    process.env["BASE_URL"] = hosted.baseUrl;
    const { url } = await hosted.call<{ url: string }>("POST", "/doorbell");
    const setOutbound = (fault?: "dead") =>
      control(org, "PUT", "outbound", { messages: [{ object: OBJECT, url: `${url}?object=${OBJECT}`, fault }] });
    await setOutbound();

    const nudges = createNudges(hosted);
    const stopping = new AbortController();
    const watching = { lookMilliseconds: LOOK_MILLISECONDS, signal: stopping.signal };
    const rows = rowsToRecords(client, org, OBJECT);
    const nudged = { ...rows, make: (key: string) => rows.make(key).then(nudges.nudge) };
    const goOn = async (): Promise<Phases> => {
      say(`${rungPerMinute} changes a minute each way for ${rungSeconds} s, all doorbells alive`);
      await pause(WARM_SECONDS * 1000);
      if ((await stateOf(hosted)) !== "alive") throw new Error(`the doorbell is ${await stateOf(hosted)}`);
      const alive = performance.now();
      const pulls = await countPulls(hosted, rungSeconds);
      const dead = performance.now();
      nudges.stop();
      await setOutbound("dead");
      say(`all doorbells dead; ${nudges.answered()} nudges were answered`);
      await untilNoticed(hosted, say);
      const noticed = performance.now();
      say(`noticed after ${((noticed - dead) / 1000).toFixed(0)} s; ${rungSeconds} s more`);
      await pause(rungSeconds * 1000);
      return { alive, dead, noticed, pulls, end: performance.now() };
    };
    const [phases, toSalesforce, toPostgres] = await Promise.all([
      goOn().finally(() => stopping.abort()),
      followChanges(nudged, atRandom(rungPerMinute), watching),
      followChanges(recordsToRows(client, org, OBJECT), atRandom(rungPerMinute), watching),
    ]);
    for (const changes of [toSalesforce, toPostgres])
      say(`longest wait before it was noticed: ${Math.max(...secondsOf(changes, phases.dead, phases.noticed))} s`);
    return figuresOf(phases, toSalesforce, toPostgres);
  });
}

function figuresOf(
  { alive, dead, noticed, end, pulls }: Phases,
  toSalesforce: readonly Change[],
  toPostgres: readonly Change[],
): Figure[] {
  const ways = { "commit to Salesforce": toSalesforce, "save to PostgreSQL": toPostgres };
  const rung = Object.entries(ways).flatMap(([way, changes]): Figure[] => {
    const seconds = secondsOf(changes, alive, dead);
    return [
      {
        name: `doorbells alive, ${way}, p50 of ${seconds.length}`,
        value: percentile(seconds, 50),
        unit: "s",
        atMost: 1.5,
      },
      { name: "  p95", value: percentile(seconds, 95), unit: "s", atMost: 3 },
    ];
  });
  const polled = Object.entries(ways).map(([way, changes]): Figure => {
    const seconds = secondsOf(changes, noticed, end);
    const name = `doorbells known to be dead, ${way}, p95 of ${seconds.length}`;
    return { name, value: percentile(seconds, 95), unit: "s", atMost: 11 };
  });
  // Pulls two seconds apart are 31 in a minute that begins and ends with one.
  const perMinute = ((pulls - 1) * 60_000) / (dead - alive);
  return [
    ...rung,
    { name: "  pulls a minute and mapping", value: perMinute, unit: "", atMost: 30 },
    { name: "death of all doorbells noticed after", value: (noticed - dead) / 1000, unit: "s", atMost: 300 },
    ...polled,
  ];
}

/** So many times a minute without end, one at a random time of each of its parts (milliseconds). */
function* atRandom(perMinute: number): Iterable<number> {
  const each = 60_000 / perMinute;
  for (let part = 0; ; part += 1) yield (part + Math.random()) * each;
}

/** What the application calls after each commit, without waiting for it. */
function createNudges({ call }: HostedMapping) {
  let [isOn, answered] = [true, 0];
  return {
    nudge: async () => {
      if (!isOn) return;
      void call("POST", `/nudge?table=${OBJECT.toLowerCase()}`).then(
        () => {
          answered += 1;
        },
        (error: unknown) => console.error(String(error)),
      );
    },
    stop: () => {
      isOn = false;
    },
    answered: () => answered,
  };
}

async function stateOf({ call }: HostedMapping): Promise<string | undefined> {
  const { mappings } = await call<{ mappings: { state: string }[] }>("GET", "/doorbell");
  return mappings[0]?.state;
}

async function untilNoticed(hosted: HostedMapping, say: (text: string) => void): Promise<void> {
  for (let seconds = 1; (await stateOf(hosted)) !== "dead"; seconds += 1) {
    if (seconds > PATIENCE_SECONDS) throw new Error(`not noticed within ${PATIENCE_SECONDS} s`);
    if (seconds % 30 === 0) say(`not noticed after ${seconds} s`);
    await pause(1_000);
  }
}

/** How often the engine asks the org what has changed within so many seconds. Its journal keeps two thousand requests. */
async function countPulls({ org }: HostedMapping, seconds: number): Promise<number> {
  const from = new Date().toISOString();
  const pulls = new Set<string>();
  for (let passed = 0; passed < seconds; passed += 10) {
    await pause(Math.min(10, seconds - passed) * 1000);
    const entries = (await (await control(org, "GET", "requests")).json()) as { at: string; request: string }[];
    for (const { at, request } of entries) {
      // A pull begins with the stamps from its position on; its further pages have another condition.
      if (at >= from && /\/queryAll\b/.test(request) && FIRST_PAGE.test(decodeURIComponent(request)))
        pulls.add(`${at} ${request}`);
    }
  }
  return pulls.size;
}
