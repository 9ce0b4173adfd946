import type { ProvisioningMessage, Queue } from "../../model/messages.ts";
import type { Log } from "../ports/cycle-ports.ts";
import type { Provisioner } from "../ports/schema-ports.ts";
import { failureOf } from "../report/cycle-failure.ts";

export interface UpgradeNeeds {
  readonly provisioner: (workspaceId: string) => Promise<{ readonly provisioner: Pick<Provisioner, "upgrade"> }>;
  readonly refusals: {
    /** Keeps why the upgrade failed, for health; null: it did not. */
    set(workspaceId: string, refusal: string | null): Promise<void>;
  };
  readonly log: Log;
}

/** Asks once a minute for the upgrade of a schema that is behind, until it is up to date. */
export async function askForUpgrade(
  { provisioning, log }: { readonly provisioning: Queue<ProvisioningMessage>; readonly log: Log },
  workspaceId: string,
  message: string,
): Promise<void> {
  log({ level: "warn", event: "schema_upgrade", workspace_id: workspaceId, message });
  const wanted = { workspace_id: workspaceId, mapping_id: null, import_id: null, upgrade: true };
  await provisioning.send([{ message: wanted }]);
}

/** Upgrades a workspace's schema beside its cycles. What fails is asked for again by the sweep, so no message returns. */
export async function upgradeSchema({ provisioner, refusals, log }: UpgradeNeeds, workspaceId: string): Promise<void> {
  const line = { event: "schema_upgrade", workspace_id: workspaceId };
  let refusal: string | null = null;
  try {
    await (await provisioner(workspaceId)).provisioner.upgrade(workspaceId);
    log({ level: "info", ...line, message: "the schema is up to date" });
  } catch (error) {
    // Without a code it is an error of ours, whose words hold no value of a row.
    const reason = error instanceof Error && !("code" in error) ? error.message : failureOf(error).message;
    refusal = `the schema cannot be upgraded: ${reason}`;
    log({ level: "error", ...line, message: refusal });
  }
  await refusals.set(workspaceId, refusal);
}
