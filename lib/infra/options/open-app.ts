import { readFileSync } from "node:fs";
import { join } from "node:path";
import { App, type AppProps } from "aws-cdk-lib";
import { readSettings } from "./settings.ts";

export interface AppOptions {
  /** The cloud assembly's folder; the CDK's own choice when left out. */
  readonly outdir?: string;
  /** Beside what cdk.json says: `{ stage: "prod" }`. */
  readonly context?: Readonly<Record<string, unknown>>;
}

/** An app that has no stacks yet. Throws with the remedy when an option makes no sense. */
export function openApp({ outdir, context }: AppOptions = {}): App {
  const app = new App({
    ...(outdir !== undefined && { outdir }),
    // Under the CDK's command line an app would write itself at exit as well, over what was synthesized before.
    autoSynth: false,
    // Traces hold the paths of this machine, which would make the same deployment differ from place to place.
    context: { ...contextOfProject(), ...context, "aws:cdk:disable-creation-stack-traces": true },
    stackTraces: false,
    treeMetadata: false,
    analyticsReporting: false,
  } satisfies AppProps);
  readSettings(app.node);
  return app;
}

function contextOfProject(): Record<string, unknown> {
  const file = join(import.meta.dirname, "../../../cdk.json");
  const { context } = JSON.parse(readFileSync(file, "utf8")) as { context: Record<string, unknown> };
  return context;
}
