import { build } from "../lib/infra/build.ts";

// The CDK runs this for every command, so what it deploys is always built from the sources beside it. Its library, half a
// second of loading, is loaded while other processes build.
const [{ createApp }] = await Promise.all([
  import("../lib/infra/synthesize.ts"),
  build({ strict: process.env["BRIDGE_STRICT"] === "1" }),
]);
for (const { stackName, template } of createApp().synth().stacks) {
  const { Resources = {} } = template as { Resources?: object };
  console.error(`${stackName}: ${Object.keys(Resources).length} of CloudFormation's 500 resources`);
}
