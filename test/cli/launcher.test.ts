import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };

const LAUNCHER = join(import.meta.dirname, "../../bin/bridge.mjs");

/** Makes the running Node say that it is an older one. */
const OLDER = `data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.20.2"}})`;

test.each([
  ["the Node that it is written for", []],
  ["an older one on the PATH, which hands over to the project's own, its exit code included", ["--import", OLDER]],
])("the command line starts under %s", async (_, node) => {
  const run = (typed: string) => promisify(execFile)(process.execPath, [...node, LAUNCHER, typed]);

  expect((await run("--version")).stdout.trim()).toBe(manifest.version);
  await expect(run("explode")).rejects.toMatchObject({ code: 2 });
});
