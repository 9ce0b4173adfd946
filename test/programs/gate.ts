import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";

/** What a run of all files may take on the machines that the project is built on: five minutes on two idle cores. */
const BUDGET_SECONDS = 600;

/** How many of the files that cost most are named. */
const NAMED = 10;

interface Cost {
  readonly file: string;
  readonly milliseconds: number;
}

/** `npm test [-- FILES or options of Vitest]`: builds, runs the tests, and says what that took of the processors. */
const files = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "bridge-gate-"));
const costs = join(folder, "costs.jsonl");
const began = Date.now();
try {
  const built = measured(["npm", "run", "build"]);
  const tested = built.status === 0 ? measured(["npx", "vitest", "run", ...files]) : null;
  process.exitCode = tested?.status ?? built.status;
  const seconds = Math.round(built.seconds + (tested?.seconds ?? 0));
  const lasted = Math.round((Date.now() - began) / 1000);
  console.log(
    `\nprocessor time: ${seconds} s, the build's ${Math.round(built.seconds)} s among them; ${lasted} s in all`,
  );
  console.log(`the ${NAMED} files that cost most, without what the PostgreSQL of all files did for them:`);
  for (const { file, milliseconds } of dearest())
    console.log(`${(milliseconds / 1000).toFixed(1).padStart(7)} s  ${file}`);
  if (files.length === 0 && seconds > BUDGET_SECONDS) {
    console.log(`ABOVE ${BUDGET_SECONDS} s: what was added takes as much away elsewhere (lib/docs/working.md)`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Runs a command and gives its exit status with the seconds of processor time that it and all its children took. */
function measured(command: readonly string[]): { readonly status: number; readonly seconds: number } {
  const script = '"$@"; status=$?; times >&3; exit $status';
  const { status, signal, output } = spawnSync("sh", ["-c", script, "sh", ...command], {
    stdio: ["inherit", "inherit", "inherit", "pipe"],
    env: { ...process.env, TEST_COSTS: costs },
    encoding: "utf8",
  });
  const times = (output?.[3] ?? "").matchAll(/(\d+)m([\d.]+)s/g);
  const seconds = [...times].reduce((sum, [, minutes, rest]) => sum + Number(minutes) * 60 + Number(rest), 0);
  return { status: status ?? 128 + (signal ? constants.signals[signal] : 0), seconds };
}

function dearest(): readonly Cost[] {
  const lines = existsSync(costs) ? readFileSync(costs, "utf8").split("\n").filter(Boolean) : [];
  const all = lines.map((line) => JSON.parse(line) as Cost);
  return all.toSorted((one, other) => other.milliseconds - one.milliseconds).slice(0, NAMED);
}
