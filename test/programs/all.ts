import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readOptions } from "../../lib/local/read-options.ts";
import { findChromium } from "../support/clients/browser.ts";
import { hasMoto } from "../support/processes/aws.ts";
import { findOrFetchPostgres } from "../support/run/older-postgres.ts";

const HELP = `npm run test:all [-- --only NAME,NAME] [--without LANGUAGE,LANGUAGE] [--again]: everything, part after part,
before an issue is called resolved or a version is tagged. npm run test:long: the parts that are not in the gate.

At the end it names each part with its result and its time, and each part that this machine could not run with what is
missing. A part that has passed on the same files is not run a second time, so that a run that was broken off continues
where it was: --again runs it all the same. The part "receivers" fails where a language is missing, unless --without
names it.`;

/** Languages of the webhook receivers in the docs: program, what shows that it is there, and its Debian package. */
const LANGUAGES = {
  python: ["python3", "--version", "python3"],
  java: ["java", "--version", "default-jdk-headless"],
  go: ["go", "version", "golang-go"],
} as const;

/** Seeds of the brief proof that follow each other: three in a row have killed at every point. */
const SEEDS = 6;

interface Passed {
  readonly files: string;
  readonly name: string;
  readonly milliseconds: number;
}

interface Part {
  readonly name: string;
  /** What this machine lacks for it; null: nothing. */
  readonly lacks: string | null;
  /** Programs that are missing although they are asked for: what can be tested without them is, and the part fails. */
  readonly missing?: readonly string[];
  /** All of them run, whatever the result of the ones before. */
  readonly commands: readonly (readonly string[])[];
  readonly environment?: Readonly<Record<string, string>>;
}

interface Outcome {
  readonly name: string;
  readonly result: string;
  readonly milliseconds: number;
}

/** The parts of `.ci/run`. */
const GATE: readonly string[] = ["check", "gate"];

/** What the files are now, by their content; null: some are not committed, so that no later run can know them again. */
const filesOfNow = committedFiles();

/** Where the parts that have passed are written down, a line each. */
const PROGRESS = join(tmpdir(), "bridge-test-all.jsonl");

const all = allParts([]).map(({ name }) => name);
const values = readOptions(`${HELP}\n\nParts: ${all.join(", ")}`, {
  only: { type: "string" },
  without: { type: "string" },
  again: { type: "boolean" },
  slow: { type: "boolean" },
});
const without = values.without?.split(",") ?? [];
const parts = allParts(without);
const names = values.only?.split(",") ?? (values.slow ? all.filter((name) => !GATE.includes(name)) : all);
const passed = values.again ? new Map<string, number>() : passedOn(filesOfNow);
const unknown = names.filter((name) => !all.includes(name));
const foreign = without.filter((language) => !(language in LANGUAGES));

if (unknown.length > 0) fail(`no such part: ${unknown.join(", ")}; there are ${all.join(", ")}`);
else if (foreign.length > 0)
  fail(`no such language: ${foreign.join(", ")}; there are ${Object.keys(LANGUAGES).join(", ")}`);
else if (!succeeds(["npm", "run", "build"])) fail("the build failed");
else {
  const outcomes = parts.filter(({ name }) => names.includes(name)).map(run);
  console.log(`\n${outcomes.map(asLine).join("\n")}`);
  const sum = outcomes.reduce((total, { milliseconds }) => total + milliseconds, 0);
  console.log(`${minutes(sum)} in all`);
  if (outcomes.some(({ result }) => result.startsWith("FAILED"))) process.exitCode = 1;
}

function allParts(without: readonly string[]): Part[] {
  const seed = Date.now() % 1_000_000;
  const seeds = Array.from({ length: SEEDS }, (_, at) => String(seed + at));
  return [
    { name: "check", lacks: null, commands: [["npm", "run", "check"]] },
    { name: "gate", lacks: null, commands: [["npm", "test"]] },
    {
      name: "long",
      lacks: null,
      get missing() {
        return hasMoto() ? [] : ["moto_server, which the deployment is tested with (pip install 'moto[server]')"];
      },
      commands: [["vitest", "run", "--mode", "rest"]],
    },
    receiversWithout(without),
    {
      name: "browser",
      lacks: findChromium() === undefined ? "Chromium (Debian: apt-get install chromium; else set CHROMIUM)" : null,
      commands: [["vitest", "run", "--mode", "long", "test/browser"]],
    },
    {
      name: "isolated",
      lacks: null,
      commands: [["vitest", "run", "--mode", "all", "test/journeys", "test/conformance"]],
      environment: { ISOLATE: "1" },
    },
    ...[15, 13].map(withPostgres),
    {
      name: "proof",
      lacks: null,
      commands: seeds.map((one) => ["node", "test/programs/prove/sync.ts", "--brief", "--seed", one]),
    },
    { name: "attack", lacks: null, commands: [["node", "test/programs/attack.ts"]] },
    { name: "writers", lacks: null, commands: [["node", "test/programs/prove/writers.ts", "--brief"]] },
    { name: "proof-webhooks", lacks: null, commands: [["node", "test/programs/prove/webhooks.ts"]] },
  ];
}

/** The webhook receivers of the docs, in each language that this machine has. */
function receiversWithout(without: readonly string[]): Part {
  const missing = Object.entries(LANGUAGES).filter(
    ([name, [program, asked]]) => !without.includes(name) && spawnSync(program, [asked]).status !== 0,
  );
  return {
    name: "receivers",
    lacks: null,
    missing: missing.map(([name, [, , of]]) => `${name} (Debian: apt-get install ${of}; else --without ${name})`),
    commands: [["vitest", "run", "--mode", "long", "test/docs/receivers.long.test.ts"]],
    environment: { WITHOUT: [...without, ...missing.map(([name]) => name)].join(",") },
  };
}

/** All tests that send SQL to a customer's database, on the server of another version, which may be downloaded first. */
function withPostgres(version: number): Part {
  return {
    name: `postgresql-${version}`,
    get lacks() {
      return findOrFetchPostgres(version) === undefined
        ? `PostgreSQL ${version} (Debian: apt-get install postgresql-${version}; else set POSTGRES_${version} to its bin folder)`
        : null;
    },
    commands: [["vitest", "run", "--mode", "all", "test/adapters/postgres", "test/sync"]],
    get environment() {
      return { POSTGRES_PROGRAMS: findOrFetchPostgres(version) ?? "" };
    },
  };
}

function run(part: Part): Outcome {
  const { name, lacks, commands, missing = [] } = part;
  const before = passed.get(name);
  if (before !== undefined) return { name, result: "passed in an earlier run", milliseconds: before };
  if (lacks !== null) return { name, result: `skipped, for want of ${lacks}`, milliseconds: 0 };
  const began = Date.now();
  console.log(`\n== ${name}`);
  const failed = commands.filter((command) => !succeeds(command, part.environment));
  const wrong = [...failed.map((command) => command.join(" ")), ...missing.map((program) => `there is no ${program}`)];
  const result = wrong.length === 0 ? "passed" : `FAILED: ${wrong.join("; ")}`;
  const milliseconds = Date.now() - began;
  if (wrong.length === 0 && filesOfNow !== null) {
    const line: Passed = { files: filesOfNow, name, milliseconds };
    appendFileSync(PROGRESS, `${JSON.stringify(line)}\n`);
  }
  return { name, result, milliseconds };
}

/** How long each part took that has passed on these files. */
function passedOn(files: string | null): ReadonlyMap<string, number> {
  const lines = existsSync(PROGRESS) ? readFileSync(PROGRESS, "utf8").split("\n").filter(Boolean) : [];
  const kept = lines.map((line) => JSON.parse(line) as Passed).filter((one) => one.files === files);
  return new Map(kept.map(({ name, milliseconds }) => [name, milliseconds]));
}

/** The commit's tree, where the working tree has nothing that is not in it. */
function committedFiles(): string | null {
  const git = (...args: string[]) => spawnSync("git", args, { encoding: "utf8" });
  if (git("status", "--porcelain").stdout !== "") return null;
  return git("rev-parse", "HEAD^{tree}").stdout.trim() || null;
}

function succeeds(
  [program = "", ...args]: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): boolean {
  const { status, error } = spawnSync(program, args, { stdio: "inherit", env: { ...process.env, ...environment } });
  if (error) throw error;
  return status === 0;
}

function asLine({ name, result, milliseconds }: Outcome): string {
  return `${name.padEnd(16)} ${minutes(milliseconds).padStart(9)}  ${result}`;
}

function minutes(milliseconds: number): string {
  return `${(milliseconds / 60_000).toFixed(1)} min`;
}

function fail(reason: string): void {
  console.error(reason);
  process.exitCode = 1;
}
