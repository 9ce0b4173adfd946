import type { ProvisioningMessage, Queue } from "../../model/messages.ts";
import type { Log } from "../cycle/cycle-ports.ts";
import { failureOf } from "../report/cycle-failure.ts";
import type { Provisioner } from "./schema-ports.ts";

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
export async function upgradeSchema(
  open: (workspaceId: string) => Promise<{ readonly provisioner: Pick<Provisioner, "upgrade"> }>,
  log: Log,
  workspaceId: string,
): Promise<void> {
  const line = { event: "schema_upgrade", workspace_id: workspaceId };
  try {
    await (await open(workspaceId)).provisioner.upgrade(workspaceId);
    log({ level: "info", ...line, message: "the schema is up to date" });
  } catch (error) {
    // Without a code it is an error of ours, whose words hold no value of a row.
    const reason = error instanceof Error && !("code" in error) ? error.message : failureOf(error).message;
    log({ level: "error", ...line, message: `the schema cannot be upgraded: ${reason}` });
  }
}
