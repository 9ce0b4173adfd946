import { RemovalPolicy, Stack } from "aws-cdk-lib";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { CfnSchedule, ScheduleGroup } from "aws-cdk-lib/aws-scheduler";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { Resources } from "./data-stack.ts";
import { nameIn, type Settings } from "./options/settings.ts";

/**
 * What starts things by the clock: the group that holds one schedule per active mapping, the role those schedules use,
 * and the minute sweeper's own schedule. Removing the group removes the mappings' schedules; the sweeper restores them.
 */
export class Beat extends Construct {
  readonly groupName: string;
  readonly fanOutRole: Role;

  constructor(scope: Construct, { queues }: Resources, { stage }: Settings) {
    super(scope, "Beat");
    const group = new ScheduleGroup(this, "Group", {
      scheduleGroupName: `bridge-${stage}`,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.groupName = group.scheduleGroupName;
    this.fanOutRole = this.senderRole("FanOutRole", queues.fanOut, this.groupName);
    new CfnSchedule(this, "MinuteSweep", {
      name: nameIn(stage, "minute-sweep"),
      description: "Wakes the sweeper that repairs what a lost message or a missed schedule left behind",
      scheduleExpression: "rate(1 minute)",
      flexibleTimeWindow: { mode: "OFF" },
      target: {
        arn: queues.sweeps.queueArn,
        // Not in the mappings' group: this schedule must be there after the group is removed.
        roleArn: this.senderRole("SweepsRole", queues.sweeps, "default").roleArn,
        input: JSON.stringify({ scheduled_at: "<aws.scheduler.scheduled-time>" }),
        // The default keeps trying for a day: late sweeps would then arrive in bursts.
        retryPolicy: { maximumEventAgeInSeconds: 60, maximumRetryAttempts: 3 },
      },
    });
  }

  /** A role for EventBridge Scheduler, for the schedules of this group alone, that may send to this queue alone. */
  private senderRole(id: string, queue: Queue, group: string): Role {
    const { account } = Stack.of(this);
    const send = new PolicyStatement({ actions: ["sqs:SendMessage"], resources: [queue.queueArn] });
    // Scheduler names the group, never the schedule (EventBridge Scheduler User Guide, Confused deputy prevention).
    const source = Stack.of(this).formatArn({ service: "scheduler", resource: "schedule-group", resourceName: group });
    return new Role(this, id, {
      assumedBy: new ServicePrincipal("scheduler.amazonaws.com", {
        conditions: { StringEquals: { "aws:SourceAccount": account, "aws:SourceArn": source } },
      }),
      inlinePolicies: { Send: new PolicyDocument({ statements: [send] }) },
    });
  }
}
