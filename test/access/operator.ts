import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type CommandLine, openCommandLine } from "../support/processes/command-line.ts";

/** The operator's command line on the test's cloud. */
export function operator(): CommandLine {
  const line = openCommandLine();
  onTestFinished(line.close);
  mkdirSync(join(line.folder, "data"), { recursive: true });
  const environment = { SCHEDULE_GROUP: "bridge-dev" };
  writeFileSync(join(line.folder, "data", "operator.json"), JSON.stringify({ environment }));
  return line;
}
