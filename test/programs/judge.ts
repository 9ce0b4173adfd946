import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { sourcesIn } from "../../lib/infra/freshness.ts";
import { readOptions } from "../../lib/local/read-options.ts";
import { BUGS } from "./judge/bug.ts";
import { groupsOf, judgeNear, judgeTogether, openProgress, type Verdict } from "./judge/judge.ts";
import { copyProject } from "./judge/project-copy.ts";
import { endRun } from "./judge/run-tests.ts";

const HELP = `npm run judge [-- options]: plants ${BUGS.length} bugs in a copy of the project and says which of them the
tests notice. Each bug meets the tests near it alone; those that survive are planted together, no two in one file, and
meet all of npm test. It fails when more than a tenth survive. What is known is kept, and the next start continues.

  --only ID,ID     these bugs alone, in this order
  --near           without the whole of npm test
  --progress FILE  where the verdicts are kept (in the folder for temporary files, by a digest of the sources)
  --json           the verdicts as one line of JSON
`;

const PROJECT = resolve(import.meta.dirname, "../..");

const values = readOptions(HELP, {
  ...{ only: { type: "string" }, progress: { type: "string" } },
  ...{ near: { type: "boolean" }, json: { type: "boolean" } },
});
const print = values.json ? console.error : console.log;

const byId = new Map(BUGS.map((bug) => [bug.id, bug]));
const ids = values.only?.split(",") ?? [...byId.keys()];
const unknown = ids.filter((id) => !byId.has(id));
if (unknown.length > 0) {
  console.error(`no such bug: ${unknown.join(", ")}; they are in test/programs/judge/bugs`);
  process.exit(1);
}

const bugs = ids.flatMap((id) => byId.get(id) ?? []);
const path = values.progress ?? join(tmpdir(), `bridge-judge-${digest()}.jsonl`);
const progress = openProgress(path);
print(`verdicts are kept in ${path}`);
const copy = copyProject(PROJECT);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
process.once("exit", () => {
  endRun();
  copy.remove();
});

const needs = { copy, progress, say: (verdict: Verdict) => print(lineOf(verdict)) };
await judgeNear(needs, bugs);
if (!values.near) {
  const left = bugs.filter(({ id }) => progress.verdicts.get(id)?.stage === "near" && !isCaught(id));
  for (const group of groupsOf(left)) await judgeTogether(needs, group);
}

const survivors = bugs.filter(({ id }) => !isCaught(id));
for (const { id, says } of survivors) print(`${id.padEnd(36)} ${progress.verdicts.get(id)?.result.padEnd(9)} ${says}`);
print(`${bugs.length - survivors.length} of ${bugs.length} bugs are caught`);
if (values.json) console.log(JSON.stringify(bugs.map(({ id }) => progress.verdicts.get(id))));
process.exit(survivors.length > bugs.length / 10 ? 1 : 0);

function isCaught(id: string): boolean {
  return progress.verdicts.get(id)?.result === "caught";
}

function lineOf({ id, result, by, seconds }: Verdict): string {
  const number = `${bugs.findIndex((bug) => bug.id === id) + 1}/${bugs.length}`;
  const reason = by?.split("\n").at(-1) ?? "";
  return `${number.padStart(8)}  ${id.padEnd(36)} ${result.padEnd(9)} ${String(seconds).padStart(5)} s  ${reason}`;
}

/** Of what the verdicts depend on: the code, the tests and the bugs. */
function digest(): string {
  const hash = createHash("sha256");
  for (const folder of ["bin", "functions", "lib", "test"]) {
    for (const file of sourcesIn(join(PROJECT, folder), (name) => /\.(ts|tsx|md|json|txt)$/.test(name)))
      hash.update(`${folder}/${file}\0`).update(readFileSync(join(PROJECT, folder, file)));
  }
  return hash.digest("hex").slice(0, 12);
}
