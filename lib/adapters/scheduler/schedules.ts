import {
  CreateScheduleCommand,
  DeleteScheduleCommand,
  paginateListSchedules,
  SchedulerClient,
} from "@aws-sdk/client-scheduler";
import { firstMinuteOf, PERIOD_SECONDS, phaseOf, TICK_SECONDS } from "../../model/beat.ts";
import type { TickMessage } from "../../model/messages.ts";
import { ASKING } from "../../network/sdk-timeouts.ts";
import type { Schedules } from "../../sync/ports/schedule-ports.ts";

/** Where schedules live and what they wake. */
export interface ScheduleSettings {
  readonly group: string;
  /** The role that EventBridge Scheduler takes to send. */
  readonly roleArn: string;
  readonly fanOutQueueArn: string;
}

/** Ends schedules of a group, for a caller that creates none. */
export function scheduleRemoval(group: string): Pick<Schedules, "remove"> {
  const client = new SchedulerClient(ASKING);
  return { remove: (mappingId) => removeBoth(client, group, mappingId) };
}

/** Versions up to 0.3.1 call a schedule like its mapping. They and this one remove each other's and make their own. */
const SUFFIX = "-5m";

async function removeBoth(client: SchedulerClient, group: string, mappingId: string): Promise<void> {
  await removeSchedule(client, group, `${mappingId}${SUFFIX}`);
  await removeSchedule(client, group, mappingId);
}

/** The scheduler that the environment names; region, endpoint and credentials are the SDK's to find. */
export function schedulesIn(settings: ScheduleSettings): Schedules {
  const client = new SchedulerClient(ASKING);
  const { group } = settings;
  return {
    ensure: async ({ workspaceId, mappingId }) => {
      await unless(
        "ConflictException",
        client.send(new CreateScheduleCommand(schedule(settings, workspaceId, mappingId))),
      );
    },
    remove: (mappingId) => removeBoth(client, group, mappingId),
    removeOld: (mappingId) => removeSchedule(client, group, mappingId),
    list: async function* () {
      for await (const { Schedules: found } of paginateListSchedules({ client }, { GroupName: group })) {
        yield* (found ?? []).map(({ Name = "" }) => ({
          mappingId: Name.replace(SUFFIX, ""),
          isOld: !Name.endsWith(SUFFIX),
        }));
      }
    },
  };
}

async function removeSchedule(client: SchedulerClient, group: string, Name: string): Promise<void> {
  const command = new DeleteScheduleCommand({ GroupName: group, Name });
  await unless("ResourceNotFoundException", client.send(command));
}

function schedule({ group, roleArn, fanOutQueueArn }: ScheduleSettings, workspaceId: string, mappingId: string) {
  const tick: TickMessage = {
    workspace_id: workspaceId,
    mapping_id: mappingId,
    scheduled_at: "<aws.scheduler.scheduled-time>",
  };
  return {
    GroupName: group,
    Name: `${mappingId}${SUFFIX}`,
    Description: `The beat of mapping ${mappingId} in workspace ${workspaceId}`,
    ScheduleExpression: `cron(${firstMinuteOf(phaseOf(workspaceId))}/${PERIOD_SECONDS / 60} * * * ? *)`,
    FlexibleTimeWindow: { Mode: "OFF" as const },
    Target: {
      Arn: fanOutQueueArn,
      RoleArn: roleArn,
      Input: JSON.stringify(tick),
      // After an outage the beat continues with the ticks that still cover slots to come; the default keeps trying for
      // a day, and all others would arrive in bursts.
      RetryPolicy: { MaximumEventAgeInSeconds: TICK_SECONDS, MaximumRetryAttempts: 3 },
    },
  };
}

async function unless(expected: string, sent: Promise<unknown>): Promise<void> {
  try {
    await sent;
  } catch (error) {
    if (!(error instanceof Error && error.name === expected)) throw error;
  }
}
