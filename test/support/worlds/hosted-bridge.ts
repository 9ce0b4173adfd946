import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assemble } from "../../../lib/local/assemble.ts";
import { type HostSettings, startHost } from "../../../lib/local/cloud/lambda/start-host.ts";
import { startCloud } from "../../../lib/local/cloud/start-cloud.ts";
import { refuseSecretsInFolder } from "../run/secrets.ts";

/**
 * Runs the deployed bundles, of the present sources, on an embedded cloud over a folder of its own, in this process:
 * `functions/services/composition.ts` reaches the same tables and queues.
 */
export async function startHostedBridge(settings: Omit<HostSettings, "cloud" | "assembly">) {
  const folder = mkdtempSync(join(tmpdir(), "bridge-hosted-"));
  const [cloud, assembly] = await Promise.all([startCloud({ dataDir: join(folder, "cloud") }), assemble()]);
  const host = await startHost({ cloud, assembly, ...settings });
  return {
    cloud,
    host,
    close: async () => {
      await host.close();
      await cloud.close();
      try {
        refuseSecretsInFolder(join(folder, "cloud"));
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  };
}
