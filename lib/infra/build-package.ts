import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";

const PROJECT = resolve(import.meta.dirname, "../..");
const OUT = join(PROJECT, "dist/package");

/** `bridge` on npm is another project. */
const NAME = "@bridge-sync/bridge";

const README = `# ${NAME}

The command line of Bridge, which keeps PostgreSQL tables and Salesforce objects in step, and the types of its API.

    npm install --global ${NAME}
    bridge login https://bridge.example.com --workspace ws_…
    bridge --help

Types for TypeScript, for a client such as openapi-fetch or by name:

    import createClient from "openapi-fetch";
    import type { ListMappingsData, paths } from "${NAME}/api";

    const client = createClient<paths>({ baseUrl: "https://bridge.example.com" });
`;

/** Writes the package that is published into `dist/package`: the command line in one file, and the API's types. */
async function buildPackage(): Promise<void> {
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(OUT, { recursive: true });
  await build({
    absWorkingDir: PROJECT,
    entryPoints: ["bin/bridge.ts"],
    outfile: join(OUT, "bridge.mjs"),
    bundle: true,
    minify: true,
    legalComments: "external",
    platform: "node",
    target: "node24",
    format: "esm",
    mainFields: ["module", "main"],
    external: ["pg-native"],
    banner: {
      js: '#!/usr/bin/env node\nimport{createRequire as bridgeRequire}from"node:module";const require=bridgeRequire(import.meta.url);',
    },
    logLevel: "warning",
  });
  copyFileSync(join(PROJECT, "lib/http/openapi/types.ts"), join(OUT, "api.d.ts"));
  const { version, description, license, engines } = JSON.parse(readFileSync(join(PROJECT, "package.json"), "utf8"));
  const published = {
    ...{ name: NAME, version, description, license, type: "module", engines },
    bin: { bridge: "bridge.mjs" },
    exports: { "./api": { types: "./api.d.ts" } },
  };
  writeFileSync(join(OUT, "package.json"), `${JSON.stringify(published, null, 2)}\n`);
  writeFileSync(join(OUT, "README.md"), README);
  copyFileSync(join(PROJECT, "LICENSE"), join(OUT, "LICENSE"));
}

await buildPackage();
const { status } = spawnSync("npm", ["pack", "--pack-destination", join(OUT, "..")], { cwd: OUT, stdio: "inherit" });
process.exitCode = status ?? 1;
