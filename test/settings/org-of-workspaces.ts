import type { CreateMappingData, ImportConfigData, ReadBudgetData } from "bridge/api";
import { afterAll, beforeAll } from "vitest";
import type { RouteName } from "../../lib/http/routes.ts";
import { askingIn } from "../support/clients/ask.ts";
import { auditedIn } from "../support/clients/audit-page.ts";
import type { Request } from "../support/clients/call.ts";
import { dataOf } from "../support/clients/data-of.ts";
import { type BridgeCloud, startBridgeCloud } from "../support/worlds/bridge-cloud.ts";
import { type ConnectedOrg, startConnectedOrg } from "../support/worlds/connected-org.ts";
import { createTestWorkspace } from "../support/worlds/workspace.ts";

export let cloud: BridgeCloud;
let org: ConnectedOrg;

/** An org for all tests of a file, in whose cloud each opens workspaces that are connected to it. */
export function anOrgForAllTests(): void {
  beforeAll(async () => {
    cloud = await startBridgeCloud();
    org = await startConnectedOrg();
  });
  afterAll(async () => {
    await org.close();
    await cloud.close();
  });
}

/** A workspace of its own that is connected to the org, and what can be asked in it. */
export async function openWorkspace() {
  const { id, token } = await createTestWorkspace({ salesforce: org.connection });
  const ask = askingIn(() => ({ id, token }));
  /** Asks for a mapping by a route that takes its id. */
  const on =
    (route: RouteName) =>
    (mapping_id: string, headers: Record<string, string> = {}) =>
      ask(route, { path: { mapping_id }, headers });
  return {
    ...{ id, ask, activate: on("activate-mapping"), deactivate: on("deactivate-mapping") },
    ...{ delete: on("delete-mapping"), restore: on("restore-mapping") },
    create: (body: object) => ask("create-mapping", { body }),
    created: async (body: object) => dataOf<CreateMappingData>(await ask("create-mapping", { body })),
    update: (mapping_id: string, body: object, headers: Record<string, string> = {}) =>
      ask("update-mapping", { path: { mapping_id }, body, headers }),
    updated: async (mapping_id: string, body: object) =>
      dataOf<CreateMappingData>(await ask("update-mapping", { path: { mapping_id }, body })),
    change: (body: object) => ask("change-budget", { body }),
    list: async () => dataOf<readonly CreateMappingData[]>(await ask("list-mappings")),
    export: () => ask("export-config"),
    import: (body: object, more: Request = {}) => ask("import-config", { body, ...more }),
    planned: async (...mappings: readonly object[]) => {
      const body = { version: 1, mappings };
      return dataOf<ImportConfigData>(await ask("import-config", { body, query: { dry_run: "true" } }));
    },
    budget: async (query: Record<string, string> = {}) => dataOf<ReadBudgetData>(await ask("read-budget", { query })),
    audited: async (action: string | null = null) => (await auditedIn(id, action, 50)).entries,
  };
}
