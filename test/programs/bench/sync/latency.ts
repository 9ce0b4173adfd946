import { setTimeout as pause } from "node:timers/promises";
import { percentile, say } from "../figures.ts";
import { control } from "./bench.ts";
import {
  followChanges,
  type HostedMapping,
  onHostedMapping,
  recordsToRows,
  rowsToRecords,
  secondsOf,
} from "./hosted-mapping.ts";
import type { SyncMeasure } from "./sizes.ts";

const WAYS = ["commit to Salesforce", "save to PostgreSQL"];

/** From the commit on one side until it is seen on the other, on the real beat of the deployed bundles, at random phases. */
export const measureLatency: SyncMeasure = (bench, { changesPerMinute, seconds }) =>
  onHostedMapping(bench, { object: "Late__c", notify: false }, async (hosted) => {
    say(`${changesPerMinute} changes a minute each way within ${seconds} s`);
    const over = AbortSignal.timeout(seconds * 1000);
    const ways = [rowsToRecords(hosted, "Late__c"), recordsToRows(hosted, "Late__c")];
    const all = await Promise.all(ways.map((way) => followChanges(way, changesPerMinute, over)));
    return all.flatMap((changes, at) => [
      { name: `${WAYS[at]}, p50 of ${changes.length}`, value: percentile(secondsOf(changes), 50), unit: "s" },
      { name: "  p95", value: percentile(secondsOf(changes), 95), unit: "s", atMost: 11 },
    ]);
  });

const OBJECT = "Rung__c";
const FIRST_PAGE = /WHERE[ +]SystemModstamp[ +]>=/;
/** Changes before the first that counts. */
const WARM_SECONDS = 10;
/** A death that is not noticed within so long is not waited for any longer. */
const PATIENCE_SECONDS = 600;

/**
 * From commit to the other side while both doorbells ring, the org's outbound message and the application's nudge; then
 * both go silent for good: how long until that is noticed, and what changes wait from then on. Changes continue throughout.
 */
export const measureDoorbells: SyncMeasure = (bench, { rungPerMinute, rungSeconds }) => {
  process.env["STAGE"] = "dev"; // the service may ring itself on this machine
  return onHostedMapping(bench, { object: OBJECT, notify: true }, async (hosted) => {
    const { org, call } = hosted;
    process.env["BASE_URL"] = hosted.baseUrl;
    const { url } = await call<{ url: string }>("POST", "/doorbell");
    const setOutbound = (fault?: "dead") =>
      control(org, "PUT", "outbound", { messages: [{ object: OBJECT, url: `${url}?object=${OBJECT}`, fault }] });
    await setOutbound();

    let isNudging = true;
    const rows = rowsToRecords(hosted, OBJECT);
    /** What the application calls after each commit, without waiting for it. */
    const nudge = () =>
      isNudging && void call("POST", `/nudge?table=${OBJECT.toLowerCase()}`).catch((error) => say(String(error)));
    const nudged = { ...rows, make: (key: string) => rows.make(key).then(() => void nudge()) };
    const stopping = new AbortController();
    /** Milliseconds of `performance.now` at which each part began, and the pulls while the doorbells were alive. */
    const goOn = async () => {
      say(`${rungPerMinute} changes a minute each way for ${rungSeconds} s, all doorbells alive`);
      await pause(WARM_SECONDS * 1000);
      if ((await stateOf(hosted)) !== "alive") throw new Error(`the doorbell is ${await stateOf(hosted)}`);
      const alive = performance.now();
      const pulls = await countPulls(hosted, rungSeconds);
      const dead = performance.now();
      isNudging = false;
      await setOutbound("dead");
      say("all doorbells dead");
      for (let seconds = 1; (await stateOf(hosted)) !== "dead"; seconds += 1) {
        if (seconds > PATIENCE_SECONDS) throw new Error(`not noticed within ${PATIENCE_SECONDS} s`);
        await pause(1_000);
      }
      const noticed = performance.now();
      say(`noticed; ${rungSeconds} s more`);
      await pause(rungSeconds * 1000);
      return { alive, dead, noticed, pulls, end: performance.now() };
    };
    const [{ alive, dead, noticed, end, pulls }, ...all] = await Promise.all([
      goOn().finally(() => stopping.abort()),
      followChanges(nudged, rungPerMinute, stopping.signal),
      followChanges(recordsToRows(hosted, OBJECT), rungPerMinute, stopping.signal),
    ]);
    // Pulls two seconds apart are 31 in a minute that begins and ends with one.
    const perMinute = ((pulls - 1) * 60_000) / (dead - alive);
    const p = (at: number, percent: number, from: number, until: number) =>
      percentile(secondsOf(all[at] ?? [], from, until), percent);
    return [
      ...WAYS.flatMap((name, at) => [
        { name: `doorbells alive, ${name}, p50`, value: p(at, 50, alive, dead), unit: "s", atMost: 1.5 },
        { name: "  p95", value: p(at, 95, alive, dead), unit: "s", atMost: 3 },
      ]),
      { name: "  pulls a minute and mapping", value: perMinute, unit: "", atMost: 30 },
      { name: "death of all doorbells noticed after", value: (noticed - dead) / 1000, unit: "s", atMost: 300 },
      ...WAYS.map((name, at) => ({
        ...{ name: `doorbells known to be dead, ${name}, p95`, value: p(at, 95, noticed, end), unit: "s", atMost: 11 },
      })),
    ];
  });
};

async function stateOf({ call }: HostedMapping): Promise<string | undefined> {
  const { mappings } = await call<{ mappings: { state: string }[] }>("GET", "/doorbell");
  return mappings[0]?.state;
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
