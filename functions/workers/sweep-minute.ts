import type { SQSBatchResponse, SQSEvent } from "aws-lambda";
import * as z from "zod/mini";
import { collectFigures } from "../../lib/metrics/collect-figures.ts";
import { countTroubles } from "../../lib/metrics/count-troubles.ts";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { WORKERS } from "../../lib/model/resources.ts";
import { fillTicks } from "../../lib/sync/beat/missing-beats.ts";
import { announcePauses } from "../../lib/sync/beat/pauses.ts";
import { resendPolls } from "../../lib/sync/beat/resend-polls.ts";
import { sweep } from "../../lib/sync/beat/sweep-minute.ts";
import { askForUpgrade } from "../../lib/sync/schema/upgrade-schema.ts";
import { resendOverdue } from "../../lib/webhooks/resend-overdue.ts";
import { reportPaused, reportSwept } from "../invocation/emit-figures.ts";
import { onQueue, type Undone } from "../invocation/on-queue.ts";
import {
  cachedMappings,
  counters,
  deliveries,
  engineReports,
  eventRows,
  eventWakeUps,
  figures,
  keyState,
  mappings,
  monitoring,
  now,
  pauses,
  queue,
  ticks,
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
 * Repairs what lost messages left behind, once a minute: schedules and tables, events, deliveries and ticks. Collects
 * the figures of the metrics, announces pauses of the deployment, and reports what the alarms watch beside the cycles.
 */
const sweepAll = onQueue(tick, async (): Promise<readonly Undone[]> => {
  const endsAt = clock.now() + (WORKERS["sweep-minute"].timeoutSeconds - 10) * 1000;
  const queues = { provisioning: queue("provisioning"), loads: queue("loads") };
  const active = sweep({ mappings: mappings(), schedules: schedules(), swept: swept(), queues, clock, log });
  const filled = active.then((all) => fillTicks({ cycles: queue("cycles"), ticks: ticks(), now, log }, all));
  const collected = collectFigures(
    {
      ...{ workspaces: workspaces(), counters: counters(), mappings: cachedMappings(), webhooks: webhooks() },
      ...{ deliveries: deliveries(), figures: figures(), monitoring: monitoring(), now, log },
      askForUpgrade: (workspaceId, message) => askForUpgrade({ ...queues, log }, workspaceId, message),
    },
    () => clock.now() > endsAt - ANSWER_MILLISECONDS,
  );
  // None is to go undone because another cannot be done.
  const ends = await Promise.allSettled([
    active,
    filled,
    collected,
    resendOverdue(
      { rows: eventRows(), deliveries: deliveries(), events: eventWakeUps(), wakeUps: wakeUps(), now },
      () => clock.now() > endsAt,
    ),
    announcePauses(pauseServices()).then((since) => reportPaused(since)),
    reportTroubles(active, filled, collected),
  ]);
  return ends.flatMap((end) => (end.status === "rejected" ? [{ position: 0, fault: end.reason }] : []));
});

/** By the figures of this minute, or where they could not be collected by those before; and sends lost polls again. */
async function reportTroubles(
  active: Promise<readonly Mapping[]>,
  filled: Promise<number>,
  collected: Promise<unknown>,
): Promise<void> {
  await Promise.allSettled([collected]);
  const reports = await engineReports().readAll();
  await resendPolls({ cycles: queue("cycles"), now }, reports);
  const { silent, broken } = await countTroubles({ reports, pauses: pauses(), now }, await active);
  const state = await keyState();
  const message = "no credential can be opened: enable the key, and cancel its deletion first where that is pending";
  if (state !== "Enabled") log({ level: "error", event: "key", state, message });
  reportSwept({ broken, silent: Math.max(silent, await filled.catch(() => 0)) }, state === "Enabled");
}

/** Throws what a part of the sweep has thrown, which its line in the log names: Lambda counts no returned message as an error. */
export const handler = async (event: SQSEvent): Promise<SQSBatchResponse> => {
  const answer = await sweepAll(event);
  if (answer.batchItemFailures.length > 0) throw new Error("a part of the sweep could not be done");
  return answer;
};
