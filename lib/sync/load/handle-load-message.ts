import { inWords, reasonFor } from "../../model/engine.ts";
import { type Mapping, pulls } from "../../model/mapping/mapping.ts";
import type { LoadMessage } from "../../model/messages.ts";
import type { Invocation } from "../beat/handle-cycle-message.ts";
import { sharedBy } from "../cycle/shared.ts";
import type { MessageNeeds } from "../ports/cycle-ports.ts";
import { concludeLoad } from "../report/conclude-cycle.ts";
import { failureOf } from "../report/cycle-failure.ts";
import { type LoadReport, runLoad } from "./run-load.ts";

/** When a dry run is asked for again that met other long work of its mapping. */
const AGAIN_SECONDS = 30;

/**
 * The same for a workspace that is paused. All other long work stays pending, and the cycles ask for it after the
 * pause.
 */
const PAUSED_SECONDS = 300;

/** The same for one that has to wait for calls. */
const SPARED_SECONDS = 300;

/**
 * Continues the long work that a message asks for. An engine-level error is stored as the mapping's and rejects, so
 * that the queue delivers the message again. An error that waits for an operator does not reject: the cycles ask for
 * the load again. A dry run stores its own error, changes nothing of its mapping's health, and is not tried again where
 * an operator has to act first.
 */
export async function handleLoadMessage(
  needs: MessageNeeds,
  message: LoadMessage,
  invocation: Invocation,
): Promise<void> {
  const mapping = await needs.mappings.find(message.workspace_id, message.mapping_id);
  const isDryRun = message.kind === "dry_run";
  // Its direction may have changed since the message was sent.
  if (!mapping || !pulls(mapping.syncDirection) || !(mapping.active || (isDryRun && mapping.deletedAt === null)))
    return;
  if (await needs.pauses.find(mapping.workspaceId)) {
    if (isDryRun) await needs.queues.loads.send([{ message, delaySeconds: PAUSED_SECONDS }]);
    return;
  }
  const startedAt = needs.clock.now();
  const logLoad = (level: "info" | "error", line: Readonly<Record<string, unknown>>) =>
    needs.log({
      level,
      event: message.kind,
      workspace_id: mapping.workspaceId,
      mapping_id: mapping.id,
      sf_object: mapping.sfObject,
      ...line,
      duration_ms: needs.clock.now() - startedAt,
    });
  const report = await work(needs, message, mapping, invocation).catch(async (error: unknown) => {
    const { message: why, ...cause } = failureOf(error);
    const { atOnce = false, awaitsSomebody = false } = reasonFor(cause.reason);
    const failure = { ...cause, message: awaitsSomebody ? why : `the ${message.kind} failed: ${why}` };
    logLoad("error", failure);
    if (!isDryRun) await concludeLoad(needs, mapping, failure);
    if (!awaitsSomebody && !(isDryRun && atOnce)) throw error;
  });
  if (!report) return;
  const { outcome, tally } = report;
  const { read, inserted, updated, deleted, rejected, notes } = tally;
  logLoad("info", { outcome, read, inserted, updated, deleted, rejected, notes });
  // Work that another invocation runs, or that is out of date, says nothing about the mapping's health.
  if (!isDryRun && (outcome === "done" || outcome === "more")) await concludeLoad(needs, mapping, null);
}

async function work(
  needs: MessageNeeds,
  message: LoadMessage,
  mapping: Mapping,
  invocation: Invocation,
): Promise<LoadReport> {
  const stopReading = new AbortController();
  const store = await needs.connections.openStore(mapping.workspaceId);
  try {
    const { salesforce, writers } = await needs.connections.connectOrg(mapping.workspaceId, stopReading.signal);
    const { budget } = await needs.engine.read(mapping.workspaceId, mapping.id);
    const report = await runLoad(
      { ...needs, store, salesforce, shared: sharedBy(needs, mapping.workspaceId) },
      { mapping, kind: message.kind, budget, writers, ...invocation },
    );
    // Work that another invocation runs, and work left unfinished by a dead one, is asked for again by the cycles.
    if (report.outcome === "more") await carryOn(needs, message);
    if (message.kind === "dry_run" && (report.outcome === "busy" || report.outcome === "spared")) {
      const delaySeconds = report.outcome === "busy" ? AGAIN_SECONDS : SPARED_SECONDS;
      await needs.queues.loads.send([{ message, delaySeconds }]);
    }
    return report;
  } catch (error) {
    // Where the database is what fails, nothing can be kept there.
    if (message.kind === "dry_run")
      await store.failDryRun(mapping.id, inWords(failureOf(error))).catch(() => undefined);
    throw error;
  } finally {
    stopReading.abort();
    await store.close();
  }
}

/** `load` carries on with whatever is unfinished. */
async function carryOn({ queues }: MessageNeeds, message: LoadMessage): Promise<void> {
  const kind = message.kind === "dry_run" ? "dry_run" : "load";
  await queues.loads.send([{ message: { ...message, kind } }]);
}
