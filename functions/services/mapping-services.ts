import { versionOf } from "../../lib/config/version.ts";
import { Tagged } from "../../lib/http/answer.ts";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { idleCallsOfEach, rungBy } from "../../lib/settings/forecast.ts";
import { viewMapping } from "../../lib/settings/mapping-view.ts";
import { eventIdOf } from "../../lib/webhooks/derived-id.ts";
import { counters, engineReports, eventWakeUps, importPlans, mappings, now, org, queue } from "./composition.ts";

/** What changes of mappings need, an import's as well as a person's. */
export const mappingServices = () => ({
  mappings: mappings(),
  plans: importPlans(),
  org: org(),
  provisioning: queue("provisioning"),
  events: eventWakeUps(),
  counters: counters(),
  eventIdOf,
});

/** The same of who answers with the mapping. */
export const answeringServices = () => ({ ...mappingServices(), engine: engineReports() });

/** A mapping as it is now, among those of its workspace, for the answer of what changed it. */
export async function answerMapping(
  { mappings, engine }: Pick<ReturnType<typeof answeringServices>, "mappings" | "engine">,
  mapping: Mapping,
): Promise<Tagged> {
  const [{ mappings: all }, { budget }] = await Promise.all([
    mappings.list(mapping.workspaceId),
    engine.read(mapping.workspaceId),
  ]);
  const calls = idleCallsOfEach(all, budget.whenQuiet, rungBy(budget, now()));
  return new Tagged(viewMapping(mapping, calls.get(mapping.id) ?? 0), versionOf(mapping));
}
