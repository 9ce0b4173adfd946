import { pulls } from "../model/mapping.ts";
import type { LoadMessage } from "../model/messages.ts";
import type { Invocation } from "./answer-message.ts";
import { doLongWork } from "./long-work.ts";
import type { MessageNeeds } from "./service-ports.ts";
import { sharedBy } from "./shared.ts";

/** Carries on the long work that a message asks for. An engine-level error rejects, so that the queue hands it out again. */
export async function answerLoad(needs: MessageNeeds, message: LoadMessage, invocation: Invocation): Promise<void> {
  const mapping = await needs.mappings.find(message.workspace_id, message.mapping_id);
  // Its direction may have changed since the message was sent.
  if (!mapping?.active || !pulls(mapping.syncDirection)) return;
  const startedAt = needs.clock.now();
  const stopReading = new AbortController();
  const store = await needs.connections.openStore(mapping.workspaceId);
  try {
    const { salesforce, writers } = await needs.connections.connectOrg(mapping.workspaceId, stopReading.signal);
    const report = await doLongWork(
      { ...needs, store, salesforce, shared: sharedBy(needs, mapping.workspaceId) },
      { mapping, kind: message.kind, writers, ...invocation },
    );
    // What somebody else is at, and what is left unfinished by one who died, the cycles ask for again.
    if (report.outcome === "more") await carryOn(needs, message);
    needs.log({
      level: "info",
      event: message.kind,
      workspace_id: mapping.workspaceId,
      mapping_id: mapping.id,
      sf_object: mapping.sfObject,
      outcome: report.outcome,
      read: report.tally.read,
      inserted: report.tally.inserted,
      updated: report.tally.updated,
      deleted: report.tally.deleted,
      rejected: report.tally.rejected,
      notes: report.tally.notes,
      duration_ms: needs.clock.now() - startedAt,
    });
  } finally {
    stopReading.abort();
    await store.close();
  }
}

/** `load` carries on with whatever is unfinished. */
async function carryOn({ queues }: MessageNeeds, message: LoadMessage): Promise<void> {
  await queues.sendLoads([{ message: { ...message, kind: "load" }, delaySeconds: 0 }]);
}
