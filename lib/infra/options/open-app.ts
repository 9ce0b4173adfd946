import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { App, type AppProps, type IReusableStackSynthesizer } from "aws-cdk-lib";
import { readSettings } from "./settings.ts";

export interface AppOptions {
  /** The cloud assembly's folder; the CDK's own choice when left out. */
  readonly outdir?: string;
  /** Beside what cdk.json says: `{ stage: "prod" }`. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** How templates name what is deployed with them; the CDK's own way when left out. */
  readonly synthesizer?: IReusableStackSynthesizer;
}

/** An app that has no stacks yet. Throws with the remedy when an option makes no sense. */
export function openApp({ outdir, context, synthesizer }: AppOptions = {}): App {
  const app = new App({
    ...(outdir !== undefined && { outdir }),
    ...(synthesizer && { defaultStackSynthesizer: synthesizer }),
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

/** The project's own context, above all the feature flags that its templates are tested with; in a release it is beside the code. */
export function contextOfProject(): Record<string, unknown> {
  const files = ["cdk.json", "../../../cdk.json"].map((file) => join(import.meta.dirname, file));
  const { context } = JSON.parse(readFileSync(files.find(existsSync) ?? "cdk.json", "utf8")) as {
    context: Record<string, unknown>;
  };
  return context;
}
