import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Prometheus itself is on this machine (Debian: `apt-get install prometheus`). */
export const hasPrometheus = (): boolean => spawnSync("prometheus", ["--version"]).status === 0;

/** Series of a query: labels, and values by epoch seconds. */
export type Series = readonly {
  readonly metric: Record<string, string>;
  readonly values?: readonly [number, string][];
}[];

/** A Prometheus that scrapes one instance. */
export interface Prometheus extends AsyncDisposable {
  /** What a query finds now; of a range with steps of so many seconds. */
  query(
    expression: string,
    range?: { readonly start: number; readonly end: number; readonly step: number },
  ): Promise<Series>;
}

/** Scrapes the instance at this base URL as lib/docs/metrics.md says, but every so many seconds. */
export async function startPrometheus(baseUrl: string, everySeconds: number): Promise<Prometheus> {
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
    query: async (expression, range) => {
      const asked = new URLSearchParams({
        query: expression,
        ...Object.fromEntries(Object.entries(range ?? {}).map(([name, value]) => [name, String(value)])),
      });
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

async function freePort(): Promise<number> {
  const socket = createServer().listen(0, "127.0.0.1");
  await once(socket, "listening");
  const { port } = socket.address() as { port: number };
  socket.close();
  await once(socket, "close");
  return port;
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
