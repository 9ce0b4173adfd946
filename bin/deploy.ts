import { BUNDLES, build, buildShared } from "../lib/infra/build.ts";
import { BUNDLED } from "../lib/infra/bundle.ts";

// The CDK runs this for every command, so what it deploys is always built from the sources beside it, and npm start runs
// it as the CDK does. Options that make no sense are refused before anything is built.
try {
  const { openApp } = await import("../lib/infra/options/open-app.ts");
  const app = openApp();
  // esbuild and Vite work in processes of their own; meanwhile this one loads the rest of the CDK.
  const shared = process.env["BRIDGE_SHARED_BUNDLES"]; // the folder of the bundles that npm start runs
  const building = shared ? buildShared(shared) : build({ strict: process.env["BRIDGE_STRICT"] === "1" });
  const [{ addStacks }] = await Promise.all([import("../lib/infra/bridge.ts"), building]);
  console.error(BUNDLED);
  addStacks(app, shared || BUNDLES);
  for (const { stackName, template } of app.synth().stacks) {
    const { Resources = {} } = template as { Resources?: object };
    console.error(`${stackName}: ${Object.keys(Resources).length} of CloudFormation's 500 resources`);
  }
} catch (error) {
  // A sentence for the operator. Where an error comes from helps with our own faults alone, which have classes of their own.
  const isRefusal = error instanceof Error && error.constructor === Error && process.env["DEBUG"] === undefined;
  console.error(isRefusal ? `Refused: ${error.message}` : error);
  process.exitCode = 1;
}
