import * as z from "zod/mini";
import { collectFigures } from "../../lib/metrics/collect-figures.ts";
import { WORKERS } from "../../lib/model/resources.ts";
import { announcePauses } from "../../lib/sync/beat/pauses.ts";
import { sweep } from "../../lib/sync/beat/sweep-minute.ts";
import { askForUpgrade } from "../../lib/sync/schema/upgrade-schema.ts";
import { resendOverdue } from "../../lib/webhooks/resend-overdue.ts";
import { reportPaused } from "../invocation/emit-figures.ts";
import { onQueue, type Undone } from "../invocation/on-queue.ts";
import {
  cachedMappings,
  counters,
  deliveries,
  eventWakeUps,
  figures,
  mappings,
  monitoring,
  now,
  overdue,
  queue,
  wakeUps,
  webhooks,
  workspaces,
} from "../services/composition.ts";
import { clock, log } from "../services/cycle-services.ts";
import { pauseServices } from "../services/pause-services.ts";
import { schedules, swept } from "../services/provisioning-services.ts";

/** What a tick says does not matter: each sweep looks at what is there. */
const tick = z.unknown();

/** A database answers, or is given up, within this. */
const ANSWER_MILLISECONDS = 30_000;

/**
 * Repairs what lost messages left behind, once a minute: schedules and tables, events and deliveries. Collects the
 * figures of the metrics, announces pauses of the deployment, and reports how long the longest pause lasts.
 */
export const handler = onQueue(tick, async (): Promise<readonly Undone[]> => {
  const endsAt = clock.now() + (WORKERS["sweep-minute"].timeoutSeconds - 10) * 1000;
  const queues = { provisioning: queue("provisioning"), loads: queue("loads") };
  // None is to go undone because another cannot be done.
  const ends = await Promise.allSettled([
    sweep({ mappings: mappings(), schedules: schedules(), swept: swept(), queues, clock, log }),
    resendOverdue({ overdue: overdue(), events: eventWakeUps(), wakeUps: wakeUps(), now }, () => clock.now() > endsAt),
    announcePauses(pauseServices()).then((since) => reportPaused(since)),
    collectFigures(
      {
        ...{ workspaces: workspaces(), counters: counters(), mappings: cachedMappings(), webhooks: webhooks() },
        ...{ deliveries: deliveries(), figures: figures(), monitoring: monitoring(), now, log },
        askForUpgrade: (workspaceId, message) => askForUpgrade({ ...queues, log }, workspaceId, message),
      },
      () => clock.now() > endsAt - ANSWER_MILLISECONDS,
    ),
  ]);
  return ends.flatMap((end) => (end.status === "rejected" ? [{ position: 0, fault: end.reason }] : []));
});
