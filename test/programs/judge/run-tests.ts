import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";

/** What a run of tests came to. */
export type Run =
  | { readonly kind: "green" }
  /** These test files failed, by path relative to the project; none: it took so long that it was ended. */
  | { readonly kind: "red"; readonly files: readonly string[] }
  /** No test can be blamed, so nothing is known. */
  | { readonly kind: "broken"; readonly said: string };

interface Order {
  /** Test files or folders; none: all those of `npm test`. */
  readonly files: readonly string[];
  /** Ends with the first test that fails. */
  readonly bails: boolean;
  readonly limitSeconds: number;
}

/** A test that waits for what a bug prevents fails sooner than in a usual run, which allows for busy machines. */
const LIMITS = ["--testTimeout=600000", "--hookTimeout=600000", "--expect.poll.timeout=120000"];

/** The run under way, so that an interrupted judge leaves none behind. */
let running: number | undefined;

/** Ends the run under way, with its workers. */
export function endRun(): void {
  try {
    if (running !== undefined) process.kill(-running, "SIGKILL");
  } catch {
    // It has just ended.
  }
}

/** Runs tests of the project in `folder` by Vitest, in a process group of its own. */
export async function runTests(folder: string, { files, bails, limitSeconds }: Order): Promise<Run> {
  const report = join(folder, "judge-report.json");
  rmSync(report, { force: true });
  const options = [...LIMITS, ...(bails ? ["--bail", "1"] : [])];
  const child = spawn(
    process.execPath,
    ["node_modules/vitest/vitest.mjs", "run", "--reporter=json", `--outputFile=${report}`, ...options, ...files],
    { cwd: folder, detached: true, stdio: ["ignore", "ignore", "pipe"] },
  );
  running = child.pid;
  const said: string[] = [];
  child.stderr.on("data", (chunk: Buffer) => said.push(chunk.toString()));
  let isEnded = false;
  const limit = setTimeout(() => {
    isEnded = true;
    endRun();
  }, limitSeconds * 1000);
  const code = await new Promise<number | null>((done, reject) => child.once("error", reject).once("close", done));
  clearTimeout(limit);
  running = undefined;
  if (isEnded) return { kind: "red", files: [] };
  if (code === 0) return { kind: "green" };
  const failed = failedFiles(folder, report);
  if (failed.length > 0) return { kind: "red", files: failed };
  return { kind: "broken", said: said.join("").trim().slice(-2000) };
}

function failedFiles(folder: string, report: string): string[] {
  try {
    const { testResults } = JSON.parse(readFileSync(report, "utf8")) as {
      readonly testResults: readonly { readonly name: string; readonly status: string }[];
    };
    return testResults.filter(({ status }) => status === "failed").map(({ name }) => relative(folder, name));
  } catch {
    return []; // Vitest ended before it could write
  }
}
