import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { BUNDLES } from "../build.ts";
import { OPTIONS } from "../options/names.ts";

const PROJECT = resolve(import.meta.dirname, "../../..");

const NAME = "@bridge-sync/cdk";

const README = `# ${NAME}

Bridge as a construct of the CDK:

    import { App } from "aws-cdk-lib";
    import { Bridge } from "${NAME}";

    const app = new App();
    new Bridge(app, "Sync", { stage: "prod", alarmTopicArn: "arn:aws:sns:…" });

It adds five stacks, \`Bridge-prod-Data\` to \`Bridge-prod-Alarms\`. The options are those of \`npm run deploy -- -c …\`.
`;

const TYPES = `import type { Stack } from "aws-cdk-lib";
import { Construct } from "constructs";

export type BridgeOptions = {
  readonly [option in ${OPTIONS.map((name) => `"${name}"`).join(" | ")}]?: string | number | boolean;
};

/** A deployment of Bridge: its five stacks. Throws with the remedy when an option makes no sense. */
export declare class Bridge extends Construct {
  readonly stacks: readonly Stack[];
  constructor(scope: Construct, id: string, options?: BridgeOptions);
}
`;

/** Packs the construct with the functions' bundles into a folder, as a package for `npm install FILE.tgz`. */
export async function packConstruct(out: string): Promise<void> {
  const folder = join(out, "package");
  mkdirSync(folder, { recursive: true });
  await build({
    absWorkingDir: PROJECT,
    entryPoints: ["lib/infra/bridge.ts"],
    outfile: join(folder, "index.mjs"),
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    external: ["aws-cdk-lib", "constructs"],
    logLevel: "warning",
  });
  cpSync(BUNDLES, join(folder, "functions"), { recursive: true });
  const { version, license, dependencies } = JSON.parse(readFileSync(join(PROJECT, "package.json"), "utf8"));
  const peers = ["aws-cdk-lib", "constructs"].map((name) => [name, `^${dependencies[name]}`]);
  const published = {
    ...{ name: NAME, version, license, type: "module", engines: { node: ">=20.11" } },
    exports: { ".": { types: "./index.d.ts", default: "./index.mjs" } },
    peerDependencies: Object.fromEntries(peers),
  };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(published, null, 2)}\n`);
  writeFileSync(join(folder, "index.d.ts"), TYPES);
  writeFileSync(join(folder, "README.md"), README);
  for (const file of ["LICENSE", "cdk.json"]) cpSync(join(PROJECT, file), join(folder, file));
  const packed = spawnSync("npm", ["pack", "--pack-destination", out, "--loglevel", "error"], { cwd: folder });
  if (packed.status !== 0) throw new Error(`npm pack failed: ${packed.stderr}`);
  rmSync(folder, { recursive: true });
}
