import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assemble } from "../../../lib/local/assemble.ts";
import { type Clock, systemClock } from "../../../lib/local/clock.ts";
import { type Host, type HostSettings, startHost } from "../../../lib/local/cloud/lambda/start-host.ts";
import { type Cloud, startCloud } from "../../../lib/local/cloud/start-cloud.ts";
import { refuseSecretsInFolder } from "../run/secrets.ts";

/** The deployed bundles on an embedded cloud, in this process; `functions/services/composition.ts` reaches the same tables and queues. */
export interface HostedBridge {
  readonly cloud: Cloud;
  readonly host: Host;
  close(): Promise<void>;
}

interface Settings extends Pick<HostSettings, "log"> {
  /** The time of queues and functions; the machine's unless given. */
  readonly clock?: Clock;
}

/** Runs the deployment of the present sources over a folder of its own. */
export async function startHostedBridge({ clock = systemClock, ...settings }: Settings = {}): Promise<HostedBridge> {
  const folder = mkdtempSync(join(tmpdir(), "bridge-hosted-"));
  const assembly = await assemble();
  const cloud = await startCloud({ dataDir: join(folder, "cloud"), clock, sweepsExpiredItems: false });
  const host = await startHost({ cloud, assembly, clock, ...settings });
  Reflect.set(globalThis, Symbol.for("bridge.now"), () => clock.now());
  return {
    cloud,
    host,
    close: async () => {
      Reflect.deleteProperty(globalThis, Symbol.for("bridge.now"));
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
