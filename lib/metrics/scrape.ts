import type { EngineReports } from "../health/ports.ts";
import { describeFault } from "../model/fault.ts";
import { writeLine } from "../model/log-line.ts";
import { exposition, type Metric } from "./exposition.ts";
import { moreText } from "./more-series.ts";
import type { Counters, KeptCounters, MetricsPage, MetricsPages } from "./ports.ts";

/** A scrape may show what was true this long ago, and so much longer for each mapping of the deployment. */
const FRESH_MILLISECONDS = 5000;
const FRESH_MILLISECONDS_EACH = 5;

const isFresh = ({ at, mappings }: MetricsPage, now: Date): boolean =>
  Math.abs(now.getTime() - at.getTime()) < FRESH_MILLISECONDS + mappings * FRESH_MILLISECONDS_EACH;

/** Without the shared page each process has its own, and the log says why. */
const orAlone = <Answer>(work: Promise<Answer>, instead: Answer): Promise<Answer> =>
  work.catch((error: unknown) => {
    writeLine({ level: "error", event: "metrics page", fault: describeFault(error) });
    return instead;
  });

/** Each process has its own page. */
const NONE: MetricsPages = { read: async () => null, claim: async () => true, keep: async () => undefined };

/**
 * The text of `/api/metrics`. All processes share one page, so that no scrape has a cost of its own: however many there
 * are, one of them reads the items of all mappings, every five seconds at most, every 55 where there are 10,000. The
 * others show the page before meanwhile.
 */
export function scraper(
  counters: Pick<Counters, "readAll">,
  engine: Pick<EngineReports, "readAll">,
  pages: MetricsPages = NONE,
): (at: Date) => Promise<string> {
  let own: { readonly at: Date; readonly page: Promise<MetricsPage> } | null = null;
  const write = async (at: Date): Promise<MetricsPage> => {
    const [kept, reports] = await Promise.all([counters.readAll(), engine.readAll()]);
    const page = { text: metricsText(kept) + moreText(reports, at), at, mappings: kept.totals.length };
    await orAlone(pages.keep(page), undefined);
    return page;
  };
  const find = async (at: Date): Promise<MetricsPage> => {
    const kept = await orAlone(pages.read(), null);
    if (kept && isFresh(kept, at)) return kept;
    const isOurs = await orAlone(pages.claim(at), true);
    return kept && !isOurs ? kept : await write(at);
  };
  return async (at) => {
    const last = await own?.page.catch(() => null);
    if (last && isFresh(last, at)) return last.text;
    // Those that waited for the same page begin one together.
    if (own === null || own.at.getTime() !== at.getTime()) own = { at, page: find(at) };
    return (await own.page).text;
  };
}

/** The four metrics of contract 4.2, and pauses if there were any. Several mappings of one object are one series. */
export function metricsText({ totals, depths, calls: others, pauses }: KeptCounters): string {
  const synced = new Series();
  const failed = new Series();
  const waiting = new Series();
  const calls = new Series();
  for (const { workspaceId, sfObject, rowsSynced, rowsFailed, apiCalls } of totals) {
    synced.add([workspaceId, sfObject], rowsSynced);
    failed.add([workspaceId, sfObject], rowsFailed);
    waiting.add([workspaceId], 0);
    calls.add([workspaceId, "SOAP"], 0);
    for (const [api, count] of Object.entries(apiCalls)) calls.add([workspaceId, api], count);
  }
  for (const { workspaceId, apiCalls } of others) {
    for (const [api, count] of Object.entries(apiCalls)) calls.add([workspaceId, api], count);
  }
  for (const { workspaceId, rows } of depths) waiting.add([workspaceId], rows);
  const paused = new Series();
  for (const { workspaceId, since } of pauses) paused.add([workspaceId], Number(since !== null));
  return exposition([
    metric("bridge_sync_rows_total", "counter", "Rows synced to Salesforce.", ["workspace_id", "object"], synced),
    metric("bridge_sync_errors_total", "counter", "Rows that failed to sync.", ["workspace_id", "object"], failed),
    metric("bridge_trigger_log_queue_depth", "gauge", "Rows in state NEW.", ["workspace_id"], waiting),
    metric("bridge_sf_api_calls_total", "counter", "Salesforce API calls made.", ["workspace_id", "api"], calls),
    ...(pauses.length > 0 ? [metric("bridge_workspace_paused", "gauge", PAUSED, ["workspace_id"], paused)] : []),
  ]);
}

const PAUSED = "1 while a person has stopped it.";

function metric(name: string, type: Metric["type"], help: string, labels: readonly string[], series: Series): Metric {
  return { name, type, help, labels, samples: series.samples() };
}

/** Sums by label values, so that each series is there once; in a stable order. */
class Series {
  readonly #sums = new Map<string, { readonly values: readonly string[]; value: number }>();

  add(values: readonly string[], amount: number): void {
    const key = JSON.stringify(values);
    const known = this.#sums.get(key);
    if (known) known.value += amount;
    else this.#sums.set(key, { values, value: amount });
  }

  samples(): Metric["samples"] {
    return [...this.#sums].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, sample]) => sample);
  }
}
