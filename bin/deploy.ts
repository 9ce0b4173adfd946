import { build } from "../lib/infra/build.ts";
import { synthesize } from "../lib/infra/synthesize.ts";

// The CDK runs this for every command, so what it deploys is always built from the sources beside it.
await build({ strict: process.env["BRIDGE_STRICT"] === "1" });
synthesize();
