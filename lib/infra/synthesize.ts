import type { App } from "aws-cdk-lib";
import { addStacks } from "./bridge.ts";
import { BUNDLES } from "./build.ts";
import { type AppOptions, openApp } from "./options/open-app.ts";

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
  const app = openApp(options);
  addStacks(app, bundles);
  return app;
}
