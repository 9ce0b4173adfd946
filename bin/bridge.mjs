#!/usr/bin/env node
// Starts the command line under the Node it is written for. This file itself runs on any Node since 14: an older one on
// the PATH looks for the project's own (a dependency) and hands over to it, or says what to do.
import { spawnSync } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import module from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const MAJOR = 24;
const project = dirname(dirname(realpathSync(fileURLToPath(import.meta.url))));
const program = join(project, "bin", "bridge.ts");

if (Number(process.versions.node.split(".")[0]) >= MAJOR) {
  // The next start need not read the TypeScript again.
  module.enableCompileCache?.();
  await import(pathToFileURL(program).href);
} else {
  const own = ownNode();
  if (own === undefined) {
    console.error(
      `bridge needs Node ${MAJOR}, this is ${process.version} and ${project}/node_modules holds none: ` +
        `run "npm install" in ${project}, or put Node ${MAJOR} on the PATH`,
    );
    process.exitCode = 69;
  } else {
    const { status, signal, error } = spawnSync(own, [program, ...process.argv.slice(2)], { stdio: "inherit" });
    if (error) throw error;
    if (signal) process.kill(process.pid, signal);
    process.exitCode = status ?? 1;
  }
}

/** The Node among the project's dependencies; undefined when none was installed. */
function ownNode() {
  const { platform, arch } = process;
  const builds = [
    join("node", "bin", "node"),
    join(`node-${platform}-${arch}`, "bin", "node"),
    join(`node-${platform === "win32" ? "win" : platform}-${arch}`, "bin", platform === "win32" ? "node.exe" : "node"),
  ];
  return builds.map((build) => join(project, "node_modules", build)).find((file) => existsSync(file));
}
