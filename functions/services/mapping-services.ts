import { eventIdOf } from "../../lib/webhooks/derived-id.ts";
import { counters, eventWakeUps, importPlans, mappings, now, org, queue } from "./composition.ts";

/** What changes of mappings need, an import's as well as a person's. */
export const mappingServices = () => ({
  mappings: mappings(),
  plans: importPlans(),
  org: org(),
  provisioning: queue("provisioning"),
  events: eventWakeUps(),
  counters: counters(),
  eventIdOf,
  now,
});
