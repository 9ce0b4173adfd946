import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { mappings } from "../../../../functions/services/composition.ts";
import { entryOf } from "../../../support/worlds/carry-out.ts";
import { startHostedBridge } from "../../../support/worlds/hosted-bridge.ts";
import { createTestWorkspace } from "../../../support/worlds/workspace.ts";
import { type Ask, bridgeAsk } from "../../ask.ts";
import type { BenchServer } from "./bench-database.ts";
import { MAPPED_FIELDS } from "./bench-objects.ts";
import { type BenchOrg, startBenchOrg } from "./bench-org.ts";

/** A workspace whose mapping the deployed bundles run, on the real beat. */
export interface HostedMapping {
  /** A connection to its database. */
  readonly client: Client;
  readonly org: BenchOrg;
  readonly baseUrl: string;
  /** A request of its API, as its administrator. */
  readonly call: Ask;
}

const LOOK_MILLISECONDS = 100;
const PATIENCE_MILLISECONDS = 60_000;

/** Measures on a mapping of this object, both ways, whose first load has ended. */
export async function onHostedMapping<Result>(
  server: BenchServer,
  { object, notify = false }: { readonly object: string; readonly notify?: boolean },
  measure: (hosted: HostedMapping) => Promise<Result>,
): Promise<Result> {
  const org = await startBenchOrg({ [object]: 10 });
  const url = await server.createDatabase();
  const bridge = await startHostedBridge({ log: () => undefined });
  // The functions run in this process; what they print must not be among the figures.
  const print = console.log;
  console.log = () => undefined;
  const client = new Client({ connectionString: url });
  try {
    await client.connect();
    const { baseUrl } = bridge.host;
    const postgres = { url, schema: "salesforce" };
    const workspace = await createTestWorkspace({ postgres, salesforce: org.connection });
    const call = bridgeAsk(baseUrl, workspace);
    const mapping = entryOf({ object, fields: MAPPED_FIELDS, upsertField: "Key__c", notify });
    await call("POST", "/config/import", { version: 1, mappings: [mapping] });
    await until(async () =>
      (await mappings().list(workspace.id)).mappings.every(({ provisioning }) => provisioning.state === "ready"),
    );
    await until(async () => {
      const { rows } = await client.query("SELECT FROM salesforce._bridge_state WHERE position IS NOT NULL");
      return rows.length === 1;
    });
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
