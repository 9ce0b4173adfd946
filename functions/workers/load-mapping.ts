import { randomUUID } from "node:crypto";
import * as z from "zod/mini";
import { WORKERS } from "../../lib/model/resources.ts";
import { handleLoadMessage } from "../../lib/sync/load/handle-load-message.ts";
import { each, onQueue } from "../invocation/on-queue.ts";
import { clock, cycleServices } from "../services/cycle-services.ts";

const loadMessage = z.object({
  workspace_id: z.string(),
  mapping_id: z.string(),
  kind: z.enum(["load", "backfill", "sweep", "dry_run"]),
});

/** Carries on the long work of a mapping until it is done or the invocation ends. */
export const handler = onQueue(loadMessage, (messages) => {
  const deadline = clock.now() + (WORKERS["load-mapping"].timeoutSeconds - 5) * 1000;
  const invocation = { owner: `load-mapping ${randomUUID()}`, deadline };
  const services = cycleServices();
  return each((message: (typeof messages)[number]) => handleLoadMessage(services, message, invocation))(messages);
});
