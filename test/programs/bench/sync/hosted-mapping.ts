import { setTimeout as pause } from "node:timers/promises";
import { mappings } from "../../../../functions/services/composition.ts";
import { entryOf } from "../../../support/worlds/carry-out.ts";
import { startHostedBridge } from "../../../support/worlds/hosted-bridge.ts";
import { createTestWorkspace } from "../../../support/worlds/workspace.ts";
import { type Ask, bridgeAsk } from "../../ask.ts";
import type { Bench, BenchOrg, Database } from "./bench.ts";
import { MAPPED_FIELDS } from "./bench-objects.ts";

/** A workspace whose mapping the deployed bundles run, on the real beat. */
export interface HostedMapping extends Database {
  readonly org: BenchOrg;
  readonly baseUrl: string;
  /** A request of its API, as its administrator. */
  readonly call: Ask;
}

const LOOK_MILLISECONDS = 100;
const PATIENCE_MILLISECONDS = 60_000;

/** Measures on a mapping of this object, both ways, whose first load has ended. */
export async function onHostedMapping<Result>(
  bench: Bench,
  { object, notify }: { readonly object: string; readonly notify: boolean },
  measure: (hosted: HostedMapping) => Promise<Result>,
): Promise<Result> {
  const org = await bench.createOrg({ [object]: 10 });
  const { url, client } = await bench.createDatabase();
  const bridge = await startHostedBridge({ log: () => undefined });
  // The functions run in this process; what they print must not be among the figures.
  console.log = () => undefined;
  try {
    const { baseUrl } = bridge.host;
    const postgres = { url, schema: "salesforce" };
    const workspace = await createTestWorkspace({ postgres, salesforce: org.connection });
    const call = bridgeAsk(baseUrl, workspace);
    const mapping = entryOf({ object, fields: MAPPED_FIELDS, upsertField: "Key__c", notify });
    await call("POST", "/config/import", { version: 1, mappings: [mapping] });
    await until(async () => {
      const { rows } = await client.query("SELECT FROM salesforce._bridge_state WHERE position IS NOT NULL");
      const all = (await mappings().list(workspace.id)).mappings;
      return rows.length === 1 && all.every(({ provisioning }) => provisioning.state === "ready");
    });
    return await measure({ url, client, org, baseUrl, call });
  } finally {
    await bridge.close();
  }
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + PATIENCE_MILLISECONDS;
  while (!(await isSo().catch(() => false))) {
    if (Date.now() > deadline) throw new Error("the mapping was not ready within a minute");
    await pause(LOOK_MILLISECONDS);
  }
}
