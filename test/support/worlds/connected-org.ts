import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type OrgOptions, startOrg } from "../../../lib/local/org/start-org.ts";
import type { SalesforceConnection } from "../../../lib/model/workspace/workspace.ts";
import { askOrg, connectionOf } from "../clients/org-rest.ts";
import { keepSecret } from "../run/secrets.ts";

/** A local org and how a workspace is connected to it. End it with `close()`. */
export type ConnectedOrg = Awaited<ReturnType<typeof startConnectedOrg>>;

/** Starts an org with `things` custom objects Thing1__c … beside the standard ones; the first session is available. */
export async function startConnectedOrg({
  things = 0,
  ...options
}: Omit<OrgOptions, "dataDir"> & { things?: number } = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), "bridge-org-"));
  const objects = Array.from({ length: things }, (_, at) => ({
    name: `Thing${at + 1}__c`,
    fields: [{ name: "Code__c", type: "text" as const, length: 20, externalId: true, unique: true }],
  }));
  const org = await startOrg({ dataDir, definition: { objects } as never, ...options });
  keepSecret(org.accessToken);
  return {
    connection: connectionOf(org) as SalesforceConnection,
    /** Orders something of the org's simulation, if it was started with `controls`; null where that says nothing. */
    control: (method: string, path: string, order?: object) => askOrg(org, method, `/_sim${path}`, order),
    close: async () => {
      await org.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
