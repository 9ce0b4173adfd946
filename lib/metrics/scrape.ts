import { exposition, type Metric } from "./exposition.ts";
import type { Counters, KeptCounters } from "./ports.ts";

/** A scrape may show what was true this long ago. */
const FRESH_MILLISECONDS = 5000;

/** The text of `/api/metrics`, read anew at most every five seconds however often it is asked for. */
export function scraper(counters: Pick<Counters, "readAll">): (at: Date) => Promise<string> {
  let last: { readonly text: Promise<string>; readonly until: number } | null = null;
  return (at) => {
    if (last !== null && last.until > at.getTime()) return last.text;
    const text = counters.readAll().then(metricsText);
    last = { text, until: at.getTime() + FRESH_MILLISECONDS };
    text.catch(() => {
      last = null;
    });
    return text;
  };
}

/** The four metrics of spec 4.2. What a workspace has several mappings of, deleted ones too, is one series. */
export function metricsText({ totals, depths, calls: others }: KeptCounters): string {
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
  return exposition([
    metric("bridge_sync_rows_total", "counter", "Rows synced to Salesforce.", ["workspace_id", "object"], synced),
    metric("bridge_sync_errors_total", "counter", "Rows that failed to sync.", ["workspace_id", "object"], failed),
    metric("bridge_trigger_log_queue_depth", "gauge", "Rows in state NEW.", ["workspace_id"], waiting),
    metric("bridge_sf_api_calls_total", "counter", "Salesforce API calls made.", ["workspace_id", "api"], calls),
  ]);
}

function metric(name: string, type: Metric["type"], help: string, labels: readonly string[], series: Series): Metric {
  return { name, type, help, labels, samples: series.samples() };
}

/** Sums by label values, so that no series stands there twice; in a stable order. */
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
