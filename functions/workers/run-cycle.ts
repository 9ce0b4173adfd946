import { randomUUID } from "node:crypto";
import * as z from "zod/mini";
import { WORKERS } from "../../lib/model/resources.ts";
import { answerMessage } from "../../lib/sync/answer-message.ts";
import { clock, cycleServices } from "../cycle-services.ts";
import { each, onQueue } from "../on-queue.ts";

const cycleMessage = z.object({
  workspace_id: z.string(),
  mapping_id: z.string(),
  kind: z.enum(["beat", "poll", "pull"]),
  slot: z.nullable(z.int()),
});

/** Runs the cycles of a batch at once, each for itself. */
export const handler = onQueue(cycleMessage, (messages) => {
  const deadline = clock.now() + (WORKERS["run-cycle"].timeoutSeconds - 2) * 1000;
  const invocation = { owner: `run-cycle ${randomUUID()}`, deadline };
  const services = cycleServices();
  return each((message: (typeof messages)[number]) => answerMessage(services, message, invocation))(messages);
});
