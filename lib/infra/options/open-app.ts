import { App, type AppProps, type IReusableStackSynthesizer } from "aws-cdk-lib";
import project from "../../../cdk.json" with { type: "json" };
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
    context: { ...project.context, ...context, "aws:cdk:disable-creation-stack-traces": true },
    stackTraces: false,
    treeMetadata: false,
    analyticsReporting: false,
  } satisfies AppProps);
  readSettings(app.node);
  return app;
}
