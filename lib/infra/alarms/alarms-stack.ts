import { Stack } from "aws-cdk-lib";
import {
  Alarm,
  type AlarmProps,
  ComparisonOperator,
  Dashboard,
  GraphWidget,
  type IMetric,
  TreatMissingData,
} from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { Topic } from "aws-cdk-lib/aws-sns";
import type { Construct } from "constructs";
import { idOf, nameIn, type Settings } from "../options/settings.ts";
import { type Watch, watchesOf } from "./watches.ts";

/**
 * The alarms on what users feel, and a dashboard of the same: by the metrics that AWS keeps anyway, and ten of the
 * stage that the workers report. Mapping by mapping rows are watched by `/api/metrics` (prometheus-rules.yaml): a
 * metric of CloudWatch for each would cost more than the service. They know what they watch by its name alone, so they
 * are a stack of their own and use none of the others' 500 resources.
 */
export class AlarmsStack extends Stack {
  constructor(scope: Construct, settings: Settings) {
    super(scope, `Bridge-${settings.stage}-Alarms`, {
      stackName: `Bridge-${settings.stage}-Alarms`,
      description: `Bridge (${settings.stage}): alarms and dashboard`,
    });
    const watches = watchesOf(settings.stage);
    const topic = settings.alarmTopicArn && Topic.fromTopicArn(this, "Topic", settings.alarmTopicArn);
    for (const [name, watch] of Object.entries(watches)) {
      const alarm = new Alarm(this, idOf(name), {
        alarmName: nameIn(settings.stage, name),
        alarmDescription: `${watch.says}. What to do: lib/infra/RUNBOOK.md#${sectionOf(name)}`,
        metric: watch.metric,
        evaluationPeriods: watch.periods,
        ...limitOf(watch),
      });
      if (!topic) continue;
      alarm.addAlarmAction(new SnsAction(topic));
      alarm.addOkAction(new SnsAction(topic));
    }
    new Dashboard(this, "Dashboard", {
      dashboardName: `bridge-${settings.stage}`,
      widgets: [Object.entries(watches).map(([name, { metric }]) => graph(name, metric))],
    });
  }
}

function limitOf({ above }: Watch): Pick<AlarmProps, "threshold" | "comparisonOperator" | "treatMissingData"> {
  if (above === null) {
    return {
      threshold: 1,
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.BREACHING,
    };
  }
  return {
    threshold: above,
    comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
    treatMissingData: TreatMissingData.NOT_BREACHING,
  };
}

const graph = (title: string, metric: IMetric): GraphWidget => new GraphWidget({ title, left: [metric], width: 8 });

/** One section says what to do with the dead letters of any queue, one with any worker that dies, one with deliveries. */
const sectionOf = (name: string): string =>
  name.replace(/^(dead-letters|worker-dies)-.*/, "$1").replace("slow-deliveries", "deliveries");
