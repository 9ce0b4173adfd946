import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../../lib/local/free-port.ts";

/** Prometheus itself is on this machine (Debian: `apt-get install prometheus`). */
export const hasPrometheus = (): boolean => spawnSync("prometheus", ["--version"]).status === 0;

/** Series of a query: labels, and values by epoch seconds. */
export type Series = readonly {
  readonly metric: Record<string, string>;
  readonly values?: readonly [number, string][];
}[];

export type Prometheus = Awaited<ReturnType<typeof startPrometheus>>;

/** A range of epoch seconds, with steps of so many. */
type Range = Readonly<Record<"start" | "end" | "step", number>>;

/** Scrapes the instance at this base URL as lib/docs/metrics.md says, but every so many seconds. */
export async function startPrometheus(baseUrl: string, everySeconds: number) {
  const folder = mkdtempSync(join(tmpdir(), "bridge-prometheus-"));
  const { host } = new URL(baseUrl);
  const jobs = [{ job_name: "bridge", metrics_path: "/api/metrics", static_configs: [{ targets: [host] }] }];
  const file = join(folder, "prometheus.yml");
  writeFileSync(file, JSON.stringify({ global: { scrape_interval: `${everySeconds}s` }, scrape_configs: jobs }));
  const address = `127.0.0.1:${await freePort()}`;
  const flags = { "config.file": file, "storage.tsdb.path": join(folder, "data"), "web.listen-address": address };
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
  const child = spawn("prometheus", args, { stdio: "ignore" });
  return {
    /** What a query finds now, or in a range. */
    query: async (expression: string, range?: Range): Promise<Series> => {
      const asked = new URLSearchParams({ query: expression });
      for (const [name, value] of Object.entries(range ?? {})) asked.set(name, String(value));
      const answer = await fetch(`http://${address}/api/v1/query${range ? "_range" : ""}?${asked}`).catch(() => null);
      if (answer === null) return []; // it is starting
      const { data, error } = (await answer.json()) as { data?: { result: Series }; error?: string };
      if (!data) throw new Error(`${expression}: ${error}`);
      return data.result;
    },
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await once(child, "exit");
      rmSync(folder, { recursive: true });
    },
  };
}

/** One panel of Grafana's dashboard. */
export interface Panel {
  readonly title: string;
  readonly description: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}

/** The panels of lib/infra/grafana.json, of all workspaces. */
export function readPanels(): readonly Panel[] {
  const file = readFileSync(join(import.meta.dirname, "../../../lib/infra/grafana.json"), "utf8");
  return (JSON.parse(file.replaceAll("$workspace", ".*")) as { panels: readonly Panel[] }).panels;
}
