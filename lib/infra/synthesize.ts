import { type App, Tags } from "aws-cdk-lib";
import { AlarmsStack } from "./alarms/alarms-stack.ts";
import { ApiStack } from "./api-stack.ts";
import { BUNDLES } from "./build.ts";
import { DataStack } from "./data-stack.ts";
import { EndpointsStack } from "./endpoints-stack.ts";
import { type AppOptions, openApp } from "./options/open-app.ts";
import { readSettings } from "./options/settings.ts";
import { WorkersStack } from "./workers-stack.ts";

interface SynthesisOptions extends AppOptions {
  /** Where the bundles lie: one folder per function. */
  readonly bundles?: string;
}

/** Writes the cloud assembly: templates, asset manifests and the bundles they name. Returns its folder. */
export function synthesize(options: SynthesisOptions = {}): string {
  return createApp(options).synth().directory;
}

/** The stacks of a stage, as constructs. */
export function createApp({ bundles = BUNDLES, ...options }: SynthesisOptions = {}): App {
  return addStacks(openApp(options), bundles);
}

/** Adds the stacks of the app's stage, whose functions are the bundles of a folder. Returns the app. */
export function addStacks(app: App, bundles: string): App {
  const settings = readSettings(app.node);
  for (const [name, value] of settings.tags) Tags.of(app).add(name, value);
  const { tables, queues, key } = new DataStack(app, settings);
  const resources = { tables, queues, key };
  const { beat } = new WorkersStack(app, settings, resources, bundles);
  new ApiStack(app, settings, new EndpointsStack(app, settings, { ...resources, beat }, bundles));
  new AlarmsStack(app, settings);
  return app;
}
