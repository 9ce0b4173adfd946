import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { mappings } from "../../../../functions/services/composition.ts";
import { entryOf } from "../../../support/worlds/carry-out.ts";
import { startHostedBridge } from "../../../support/worlds/hosted-bridge.ts";
import { createTestWorkspace } from "../../../support/worlds/workspace.ts";
import type { BenchServer } from "./bench-database.ts";
import { MAPPED_FIELDS } from "./bench-objects.ts";
import { type BenchOrg, startBenchOrg } from "./bench-org.ts";

/** A workspace whose mappings, mostly one, the deployed bundles run, on the real beat. */
export interface HostedMapping {
  /** A connection to its database. */
  readonly client: Client;
  readonly org: BenchOrg;
  readonly baseUrl: string;
  /** A request of its API, as its administrator. */
  call<Data>(method: string, path: string, body?: object): Promise<Data>;
}

const LOOK_MILLISECONDS = 100;
const PATIENCE_MILLISECONDS = 60_000;

/** Measures on a mapping of this object, and of each of `more`, both ways, whose first loads have ended. */
export async function onHostedMapping<Result>(
  server: BenchServer,
  {
    object,
    notify = false,
    more = [],
  }: { readonly object: string; readonly notify?: boolean; readonly more?: readonly string[] },
  measure: (hosted: HostedMapping) => Promise<Result>,
): Promise<Result> {
  const objects = [object, ...more];
  const org = await startBenchOrg(Object.fromEntries(objects.map((name) => [name, 10])));
  const url = await server.createDatabase();
  const bridge = await startHostedBridge({ log: () => undefined });
  // The functions run in this process; what they print must not be among the figures.
  const print = console.log;
  console.log = () => undefined;
  const client = new Client({ connectionString: url });
  try {
    await client.connect();
    const { baseUrl } = bridge.host;
    const { id, token } = await createTestWorkspace({
      postgres: { url, schema: "salesforce" },
      salesforce: org.connection,
    });
    const call: HostedMapping["call"] = async (method, path, body) => {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const asked = { method, headers, body: body ? JSON.stringify(body) : null };
      const answer = await fetch(`${baseUrl}/api/v1/t/${id}${path}`, asked);
      if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
      return ((await answer.json()) as { data: never }).data;
    };
    await call("POST", "/config/import", {
      version: 1,
      mappings: objects.map((name) => entryOf({ object: name, fields: MAPPED_FIELDS, upsertField: "Key__c", notify })),
    });
    const isReady = async () =>
      (await mappings().list(id)).mappings.every(({ provisioning }) => provisioning.state === "ready");
    const isLoaded = async () =>
      (await client.query("SELECT FROM salesforce._bridge_state WHERE position IS NOT NULL")).rows.length ===
      objects.length;
    await until(isReady);
    await until(isLoaded);
    return await measure({ client, org, baseUrl, call });
  } finally {
    console.log = print;
    await client.end();
    await bridge.close();
    org.end();
  }
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + PATIENCE_MILLISECONDS;
  while (!(await isSo().catch(() => false))) {
    if (Date.now() > deadline) throw new Error("the mapping was not ready within a minute");
    await pause(LOOK_MILLISECONDS);
  }
}
