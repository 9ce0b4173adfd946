import { upgradeRefusals } from "../../lib/adapters/dynamodb/engine/engine.ts";
import { sweptMinutes } from "../../lib/adapters/dynamodb/engine/sweep-claim.ts";
import { type ScheduleSettings, schedulesIn } from "../../lib/adapters/scheduler/schedules.ts";
import { renewMapping } from "../../lib/config/renew-mapping.ts";
import { rollForward } from "../../lib/config/roll-forward.ts";
import type { SweepNeeds } from "../../lib/sync/beat/sweep-minute.ts";
import type { Schedules } from "../../lib/sync/ports/schedule-ports.ts";
import type { ProvisionNeeds } from "../../lib/sync/schema/provision-mapping.ts";
import { database, events, mappings, queue, restores, setting, ticks } from "./composition.ts";
import { clock, log, provisionerOf, workspaceConnections } from "./cycle-services.ts";
import { mappingServices } from "./mapping-services.ts";

/** What the workers need that carry out changes of configuration. */

const scheduleSettings = (): ScheduleSettings => ({
  group: setting("SCHEDULE_GROUP"),
  roleArn: setting("SCHEDULER_ROLE_ARN"),
  fanOutQueueArn: setting("FAN_OUT_QUEUE_ARN"),
});

export const schedules = (): Schedules => schedulesIn(scheduleSettings());

export const swept = (): SweepNeeds["swept"] => sweptMinutes(database());

/** Everything that provisioning a mapping needs; an import is rolled forward until `deadline` (epoch milliseconds). */
export const provisioningServices = (deadline: number): ProvisionNeeds => ({
  rollForward: (workspaceId) => rollForward(mappingServices(), workspaceId, () => clock.now() < deadline),
  renew: (mapping) => renewMapping(mappingServices(), mapping, new Date(clock.now())),
  mappings: mappings(),
  announcements: events(),
  connections: workspaceConnections,
  provisioner: provisionerOf,
  refusals: upgradeRefusals(database()),
  restores: restores(),
  schedules: schedules(),
  ticks: ticks(),
  queues: { cycles: queue("cycles"), loads: queue("loads"), provisioning: queue("provisioning") },
  clock,
  log,
});
