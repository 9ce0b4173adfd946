import type { LoadMessage } from "../model/messages.ts";
import type { Invocation } from "./answer-message.ts";
import { doLongWork } from "./long-work.ts";
import type { MessageNeeds } from "./service-ports.ts";
import { sharedBy } from "./shared.ts";

/** Somebody else is at it: whoever comes a little later finds it done, or takes it up. */
const LOOK_AGAIN_SECONDS = 30;

/** Carries on the long work that a message asks for. An engine-level error rejects, so that the queue hands it out again. */
export async function answerLoad(needs: MessageNeeds, message: LoadMessage, invocation: Invocation): Promise<void> {
  const mapping = await needs.mappings.find(message.workspace_id, message.mapping_id);
  if (!mapping?.active) return;
  const startedAt = needs.clock.now();
  const stopReading = new AbortController();
  const store = await needs.connections.openStore(mapping.workspaceId);
  try {
    const { salesforce, userId } = await needs.connections.connectOrg(mapping.workspaceId, stopReading.signal);
    const report = await doLongWork(
      { ...needs, store, salesforce, shared: sharedBy(needs, mapping.workspaceId) },
      { mapping, kind: message.kind, userId, ...invocation },
    );
    // `load` carries on with whatever is unfinished.
    if (report.outcome === "more") await again(needs, { ...message, kind: "load" }, 0);
    if (report.outcome === "busy") await again(needs, message, LOOK_AGAIN_SECONDS);
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

async function again({ queues }: MessageNeeds, message: LoadMessage, delaySeconds: number): Promise<void> {
  await queues.sendLoads([{ message, delaySeconds }]);
}
