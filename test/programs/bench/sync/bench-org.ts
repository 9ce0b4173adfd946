import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openOrg } from "../../../../lib/local/org/run-org.ts";
import type { SalesforceConnection } from "../../../../lib/model/workspace/workspace.ts";
import { ask, request } from "../../ask.ts";
import { connectionAs } from "../../connection-as.ts";
import { type Child, spawnOrg } from "../org-process.ts";
import { definitionOf, type MoreField } from "./bench-objects.ts";
import { fillObject } from "./fill-org.ts";

/** An org in a process of its own whose objects hold records. */
export interface BenchOrg extends Child {
  /** How the engine is connected to it, its session open. */
  readonly connection: SalesforceConnection;
  readonly dataDir: string;
  end(): void;
}

/** Makes an org with objects of twenty fields, or `more`, and so many records in each, and starts it. */
export async function startBenchOrg(
  records: Readonly<Record<string, number>>,
  more: readonly MoreField[] = [],
  definition = definitionOf(Object.keys(records), more),
): Promise<BenchOrg> {
  const dataDir = mkdtempSync(join(tmpdir(), "bridge-bench-org-"));
  const file = join(dataDir, "definition.json");
  writeFileSync(file, JSON.stringify(definition));
  const empty = await openOrg({ dataDir, definition: file, port: 0 });
  const prefixes = await prefixesOf(empty.url, empty.accessToken, Object.keys(records));
  await empty.close();
  for (const [name, count] of Object.entries(records)) {
    if (count > 0) fillObject(dataDir, { name, prefix: prefixes.get(name) ?? "" }, count, more);
  }
  const org = await spawnOrg(dataDir, file);
  const end = () => {
    org.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  return { ...org, connection: connectionAs(org, org, org.token), dataDir, end };
}

async function prefixesOf(url: string, token: string, names: readonly string[]): Promise<Map<string, string>> {
  type Described = { sobjects: { name: string; keyPrefix: string }[] };
  const { sobjects } = await ask<Described>(`${url}/services/data/v66.0/sobjects`, token, "GET");
  return new Map(sobjects.flatMap(({ name, keyPrefix }) => (names.includes(name) ? [[name, keyPrefix]] : [])));
}

/** A request of the org's controls. */
export const control = ({ url, token }: Child, method: string, path: string, body?: object): Promise<Response> =>
  request(`${url}/_sim/${path}`, token, method, body);
