import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Bug } from "./bug.ts";
import type { ProjectCopy } from "./project-copy.ts";
import { runTests } from "./run-tests.ts";

/** What is known of a bug. */
export interface Verdict {
  readonly id: string;
  /** The tests near it, or all of them. */
  readonly stage: "near" | "all";
  readonly result: "caught" | "survived" | "unknown";
  /** The test file that failed, or why nothing is known. */
  readonly by: string | null;
  readonly seconds: number;
}

/** Whether a test file passes without a bug: what fails anyway has noticed nothing. */
interface Baseline {
  readonly file: string;
  readonly isGreen: boolean;
}

/** What a judge knows so far, by bug and by test file; it is kept line by line, so that a run that was broken off continues. */
export interface Progress {
  readonly verdicts: ReadonlyMap<string, Verdict>;
  readonly greens: ReadonlyMap<string, boolean>;
  keep(known: Verdict | Baseline): void;
}

export function openProgress(path: string): Progress {
  const verdicts = new Map<string, Verdict>();
  const greens = new Map<string, boolean>();
  const know = (known: Verdict | Baseline) =>
    "file" in known ? greens.set(known.file, known.isGreen) : verdicts.set(known.id, known);
  const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
  for (const line of lines.filter((one) => one !== "")) know(JSON.parse(line) as Verdict | Baseline);
  const keep = (known: Verdict | Baseline) => {
    know(known);
    appendFileSync(path, `${JSON.stringify(known)}\n`);
  };
  return { verdicts, greens, keep };
}

interface Needs {
  readonly copy: ProjectCopy;
  readonly progress: Progress;
  readonly say: (verdict: Verdict) => void;
}

/** Limits of a run, for what hangs. */
const NEAR_SECONDS = 1800;
const ALL_SECONDS = 4 * 3600;

/** Plants each bug alone and runs the tests near it, nearest first, until one of them fails. */
export async function judgeNear(needs: Needs, bugs: readonly Bug[]): Promise<void> {
  for (const bug of bugs) {
    if ((needs.progress.verdicts.get(bug.id)?.result ?? "unknown") !== "unknown") continue;
    const began = Date.now();
    const noticed = await isNoticed(
      needs,
      bug,
      bug.near.map((name) => testPath(needs.copy.folder, name)),
    );
    conclude(needs, bug, "near", noticed, began);
  }
}

/**
 * Plants these bugs together, no two in one file, and runs all tests. Where some fail, each bug meets those alone, and
 * those that they do not notice run together again; where they notice none, the bugs are parted in two.
 */
export async function judgeTogether(needs: Needs, bugs: readonly Bug[]): Promise<void> {
  const { copy } = needs;
  if (bugs.length === 0) return;
  const began = Date.now();
  const each = (noticed: Noticed) => {
    for (const bug of bugs) conclude(needs, bug, "all", noticed, began);
  };
  copy.plant(bugs);
  const run = await runTests(copy.folder, { files: [], bails: false, limitSeconds: ALL_SECONDS });
  if (run.kind === "broken") return each({ result: "unknown", by: run.said });
  const files = run.kind === "green" ? [] : await filesThatPassWithout(needs, run.files);
  if (run.kind === "green" || (files.length === 0 && run.files.length > 0))
    return each({ result: "survived", by: null });
  if (bugs.length === 1) return each({ result: "caught", by: files[0] ?? HANGS });

  const left: Bug[] = [];
  for (const bug of bugs) {
    const start = Date.now();
    const noticed = await isNoticed(needs, bug, files);
    if (noticed.result === "caught") conclude(needs, bug, "all", noticed, start);
    else left.push(bug);
  }
  const half = Math.ceil(left.length / 2);
  const parts = left.length < bugs.length ? [left] : [left.slice(0, half), left.slice(half)];
  for (const part of parts) await judgeTogether(needs, part);
}

/** Bugs in as few groups as can be in which no two touch the same file. */
export function groupsOf(bugs: readonly Bug[]): readonly (readonly Bug[])[] {
  const ofFile = [...Map.groupBy(bugs, ({ file }) => file).values()];
  const most = Math.max(0, ...ofFile.map(({ length }) => length));
  return Array.from({ length: most }, (_, at) => ofFile.flatMap((some) => some.slice(at, at + 1)));
}

type Noticed = Pick<Verdict, "result" | "by">;

const HANGS = "a run that hangs";

async function isNoticed(needs: Needs, bug: Bug, paths: readonly string[]): Promise<Noticed> {
  const { copy } = needs;
  let unknown: Noticed | null = null;
  for (const path of paths) {
    copy.plant([bug]);
    const run = await runTests(copy.folder, { files: [path], bails: true, limitSeconds: NEAR_SECONDS });
    if (run.kind === "broken") unknown ??= { result: "unknown", by: run.said };
    if (run.kind !== "red") continue;
    if (run.files.length === 0) return { result: "caught", by: HANGS };
    const [file] = await filesThatPassWithout(needs, run.files);
    if (file !== undefined) return { result: "caught", by: file };
    unknown ??= { result: "unknown", by: `${run.files[0]} fails without the bug, too` };
  }
  return unknown ?? { result: "survived", by: null };
}

/** Those of the files that pass in the project as it is. */
async function filesThatPassWithout({ copy, progress }: Needs, files: readonly string[]): Promise<string[]> {
  for (const file of files.filter((one) => !progress.greens.has(one))) {
    copy.plant([]);
    const { kind } = await runTests(copy.folder, { files: [file], bails: false, limitSeconds: NEAR_SECONDS });
    progress.keep({ file, isGreen: kind === "green" });
  }
  return files.filter((file) => progress.greens.get(file));
}

function conclude(
  { progress, say }: Needs,
  { id }: Bug,
  stage: Verdict["stage"],
  noticed: Noticed,
  began: number,
): void {
  const verdict = { id, stage, ...noticed, seconds: Math.round((Date.now() - began) / 1000) };
  progress.keep(verdict);
  say(verdict);
}

/** A file or folder of tests, by its name below `test`. */
export function testPath(project: string, name: string): string {
  const file = `test/${name}.test.ts`;
  return existsSync(join(project, file)) ? file : `test/${name}/`;
}
