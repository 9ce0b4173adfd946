import { readFileSync } from "node:fs";
import { join } from "node:path";
import { App, type AppProps } from "aws-cdk-lib";
import { AlarmsStack } from "./alarms-stack.ts";
import { ApiStack } from "./api-stack.ts";
import { BUNDLES } from "./build.ts";
import { DataStack } from "./data-stack.ts";
import { EndpointsStack } from "./endpoints-stack.ts";
import { readSettings } from "./settings.ts";
import { WorkersStack } from "./workers-stack.ts";

interface SynthesisOptions {
  /** The cloud assembly's folder; the CDK's own choice when left out. */
  readonly outdir?: string;
  /** Where the bundles lie: one folder per function. */
  readonly bundles?: string;
  /** Beside what cdk.json says: `{ stage: "prod" }`. */
  readonly context?: Readonly<Record<string, unknown>>;
}

/** Writes the cloud assembly: templates, asset manifests and the bundles they name. Returns its folder. */
export function synthesize(options: SynthesisOptions = {}): string {
  return createApp(options).synth().directory;
}

/** The stacks of a stage, as constructs. */
export function createApp({ outdir, bundles = BUNDLES, context }: SynthesisOptions = {}): App {
  const app = new App({
    ...(outdir !== undefined && { outdir }),
    // Traces hold the paths of this machine, which would make the same deployment differ from place to place.
    context: { ...contextOfProject(), ...context, "aws:cdk:disable-creation-stack-traces": true },
    stackTraces: false,
    treeMetadata: false,
    analyticsReporting: false,
  } satisfies AppProps);
  const settings = readSettings(app.node);
  const { tables, queues, key } = new DataStack(app, settings);
  const resources = { tables, queues, key };
  const { beat } = new WorkersStack(app, settings, resources, bundles);
  new ApiStack(app, settings, new EndpointsStack(app, settings, { ...resources, beat }, bundles));
  new AlarmsStack(app, settings);
  return app;
}

/** Throws with the remedy when an option makes no sense. */
export function refuseOptions(): void {
  readSettings(new App({ context: contextOfProject() }).node);
}

function contextOfProject(): Record<string, unknown> {
  const file = join(import.meta.dirname, "../../cdk.json");
  const { context } = JSON.parse(readFileSync(file, "utf8")) as { context: Record<string, unknown> };
  return context;
}
