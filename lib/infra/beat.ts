import { RemovalPolicy, Stack } from "aws-cdk-lib";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { CfnSchedule, ScheduleGroup } from "aws-cdk-lib/aws-scheduler";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { Resources } from "./data-stack.ts";
import { nameIn, type Settings } from "./settings.ts";

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
    this.fanOutRole = this.senderRole("FanOutRole", queues.fanOut);
    new CfnSchedule(this, "MinuteSweep", {
      name: nameIn(stage, "minute-sweep"),
      description: "Wakes the sweeper that repairs what a lost message or a missed schedule left behind",
      scheduleExpression: "rate(1 minute)",
      flexibleTimeWindow: { mode: "OFF" },
      target: {
        arn: queues.sweeps.queueArn,
        roleArn: this.senderRole("SweepsRole", queues.sweeps).roleArn,
        input: JSON.stringify({ scheduled_at: "<aws.scheduler.scheduled-time>" }),
        // The default keeps trying for a day: late sweeps would then arrive in bursts.
        retryPolicy: { maximumEventAgeInSeconds: 60, maximumRetryAttempts: 3 },
      },
    });
  }

  /** A role for EventBridge Scheduler, for this account's schedules alone, that may send to this queue alone. */
  private senderRole(id: string, queue: Queue): Role {
    const send = new PolicyStatement({ actions: ["sqs:SendMessage"], resources: [queue.queueArn] });
    return new Role(this, id, {
      assumedBy: new ServicePrincipal("scheduler.amazonaws.com", {
        conditions: { StringEquals: { "aws:SourceAccount": Stack.of(this).account } },
      }),
      inlinePolicies: { Send: new PolicyDocument({ statements: [send] }) },
    });
  }
}
