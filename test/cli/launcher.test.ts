import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };

const LAUNCHER = join(import.meta.dirname, "../../bin/bridge.mjs");

/** Makes the running Node say that it is another. */
const pretend = (version: string): string[] => [
  "--import",
  `data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"${version}"}})`,
];

const run = (args: readonly string[]) => promisify(execFile)(process.execPath, args);

test("the command line starts under the Node that it is written for", async () => {
  expect((await run([LAUNCHER, "--version"])).stdout.trim()).toBe(manifest.version);
});

test("an older Node on the PATH hands over to the project's own", async () => {
  expect((await run([...pretend("20.20.2"), LAUNCHER, "--version"])).stdout.trim()).toBe(manifest.version);
});

test("exit codes come through the handing over", async () => {
  await expect(run([...pretend("20.20.2"), LAUNCHER, "explode"])).rejects.toMatchObject({ code: 2 });
});
