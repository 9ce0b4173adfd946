import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Stack, Tags } from "aws-cdk-lib";
import { Construct } from "constructs";
import { AlarmsStack } from "./alarms/alarms-stack.ts";
import { ApiStack } from "./api-stack.ts";
import { DataStack } from "./data-stack.ts";
import { EndpointsStack } from "./endpoints-stack.ts";
import { type BridgeOptions, contextOf } from "./options/names.ts";
import { contextOfProject } from "./options/open-app.ts";
import { readSettings, type Settings } from "./options/settings.ts";
import { WorkersStack } from "./workers-stack.ts";

/** The bundles beside this file, as the released package has them, or those of a build of this project. */
const BUNDLES = ["functions", "../../dist/functions"].map((folder) => join(import.meta.dirname, folder));

/**
 * A deployment of Bridge in an app of one's own: `new Bridge(app, "Sync", { stage: "prod", alarmTopicArn })`. It adds
 * five stacks, for one takes 500 resources and these have 700. Nested ones would go back together, data with code, and
 * would need the same rights at once. Throws with the remedy when an option makes no sense.
 */
export class Bridge extends Construct {
  /** In the order in which they are deployed: data, workers, endpoints, API, alarms. */
  readonly stacks: readonly Stack[];

  constructor(scope: Construct, id: string, options: BridgeOptions = {}, bundles = BUNDLES.find(existsSync) ?? "") {
    super(scope, id);
    const settings = readSettings(contextOf(options));
    // Feature flags shape the templates: those that they were tested with.
    for (const [flag, value] of Object.entries(contextOfProject())) this.node.setContext(flag, value);
    this.stacks = addStacks(this, bundles, settings);
  }
}

/** Adds the stacks of a stage, whose functions are the bundles of a folder. */
export function addStacks(
  scope: Construct,
  bundles: string,
  settings: Settings = readSettings(scope.node),
): readonly Stack[] {
  for (const [name, value] of settings.tags) Tags.of(scope).add(name, value);
  const data = new DataStack(scope, settings);
  const { tables, queues, key, formerKeyArn } = data;
  const resources = { tables, queues, key, formerKeyArn };
  const workers = new WorkersStack(scope, settings, resources, bundles);
  const endpoints = new EndpointsStack(scope, settings, { ...resources, beat: workers.beat }, bundles);
  const api = new ApiStack(scope, settings, endpoints);
  return [data, workers, endpoints, api, new AlarmsStack(scope, settings)];
}
