import * as z from "zod/mini";
import { WORKERS } from "../../lib/model/resources.ts";
import { provisionMapping } from "../../lib/sync/schema/provision-mapping.ts";
import { each, onQueue } from "../invocation/on-queue.ts";
import { clock } from "../services/cycle-services.ts";
import { provisioningServices } from "../services/provisioning-services.ts";

const provisioningMessage = z.object({
  workspace_id: z.string(),
  mapping_id: z.nullable(z.string()),
  import_id: z.nullable(z.string()),
  anew: z.optional(z.boolean()),
  describe: z.optional(z.boolean()),
  upgrade: z.optional(z.boolean()),
});

/** Carries out changes of configuration: imports that are left open, tables, triggers, schedules, first loads. */
export const handler = onQueue(provisioningMessage, (messages) => {
  // Half of the time is for the rest of an import, half for the table.
  const services = provisioningServices(clock.now() + WORKERS["provision-mapping"].timeoutSeconds * 500);
  return each((message: (typeof messages)[number]) => provisionMapping(services, message))(messages);
});
