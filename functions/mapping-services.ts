import { eventIdOf } from "../lib/webhooks/derived-id.ts";
import { counters, eventWakeUps, importPlans, mappings, now, org, provisioningQueue } from "./composition.ts";

/** What changes of mappings need, an import's as well as a person's. */
export const mappingServices = () => ({
  mappings: mappings(),
  plans: importPlans(),
  org: org(),
  provisioning: provisioningQueue(),
  events: eventWakeUps(),
  counters: counters(),
  eventIdOf,
  now,
});
