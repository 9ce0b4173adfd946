import { type Mapping, pulls } from "../../model/mapping/mapping.ts";
import type { LoadMessage } from "../../model/messages.ts";
import type { Invocation } from "../beat/handle-cycle-message.ts";
import type { MessageNeeds } from "../cycle/cycle-ports.ts";
import { sharedBy } from "../cycle/shared.ts";
import { concludeLoad } from "../report/conclude-cycle.ts";
import { failureOf } from "../report/cycle-failure.ts";
import { type LoadReport, runLoad } from "./run-load.ts";

/**
 * Carries on the long work that a message asks for. An engine-level error is remembered as the mapping's and rejects, so
 * that the queue hands the message out again.
 */
export async function handleLoadMessage(
  needs: MessageNeeds,
  message: LoadMessage,
  invocation: Invocation,
): Promise<void> {
  const mapping = await needs.mappings.find(message.workspace_id, message.mapping_id);
  // Its direction may have changed since the message was sent.
  if (!mapping?.active || !pulls(mapping.syncDirection)) return;
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
  const { outcome, tally } = await work(needs, message, mapping, invocation).catch(async (error: unknown) => {
    const { reason, message: why } = failureOf(error);
    const failure = { reason, message: `the ${message.kind} failed: ${why}` };
    logLoad("error", failure);
    await concludeLoad(needs, mapping, failure);
    throw error;
  });
  const { read, inserted, updated, deleted, rejected, notes } = tally;
  logLoad("info", { outcome, read, inserted, updated, deleted, rejected, notes });
  // One that another invocation is at, or that is of no use any more, tells nothing of the mapping.
  if (outcome === "done" || outcome === "more") await concludeLoad(needs, mapping, null);
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
    const report = await runLoad(
      { ...needs, store, salesforce, shared: sharedBy(needs, mapping.workspaceId) },
      { mapping, kind: message.kind, writers, ...invocation },
    );
    // What somebody else is at, and what is left unfinished by one who died, the cycles ask for again.
    if (report.outcome === "more") await carryOn(needs, message);
    return report;
  } finally {
    stopReading.abort();
    await store.close();
  }
}

/** `load` carries on with whatever is unfinished. */
async function carryOn({ queues }: MessageNeeds, message: LoadMessage): Promise<void> {
  await queues.loads.send([{ message: { ...message, kind: "load" } }]);
}
