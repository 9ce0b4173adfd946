import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readOptions } from "../../lib/local/read-options.ts";
import { findChromium } from "../support/clients/browser.ts";
import { hasMoto } from "../support/processes/aws.ts";
import { findOrFetchPostgres } from "../support/run/older-postgres.ts";

const HELP = `npm run test:all [-- --only NAME,NAME] [--without LANGUAGE,LANGUAGE]: everything, part after part, before an
issue is called resolved or a version is tagged. npm run test:long: the parts that are not in the gate.

At the end it names each part with its result and its time, and each part that this machine could not run with what is
missing. A part that has passed on the same files is not run a second time, so that a run that was broken off continues
where it was. The part "receivers" fails where a language is missing, unless --without names it.`;

/** Languages of the webhook receivers in the docs: program, what shows that it is there, and its Debian package. */
const LANGUAGES = {
  python: ["python3", "--version", "python3"],
  java: ["java", "--version", "default-jdk-headless"],
  go: ["go", "version", "golang-go"],
} as const;

/** Seeds of the brief proof that follow each other: three in a row have killed at every point. */
const SEEDS = 6;

interface Part {
  /** All of them run, whatever the result of the ones before. */
  readonly commands: readonly string[];
  /** What this machine lacks for it. */
  readonly lacks?: () => string | false;
  /** Programs that are missing although they are asked for: what can be tested without them is, and the part fails. */
  readonly missing?: () => readonly string[];
  readonly environment?: () => Readonly<Record<string, string>>;
}

interface Passed {
  readonly files: string;
  readonly name: string;
  readonly milliseconds: number;
}

const seed = Date.now() % 1_000_000;

const PARTS: Readonly<Record<string, Part>> = {
  check: { commands: ["npm run check"] },
  gate: { commands: ["npm test"] },
  long: {
    commands: ["vitest run --mode rest"],
    missing: () => (hasMoto() ? [] : ["moto_server, which the deployment is tested with (pip install 'moto[server]')"]),
  },
  receivers: {
    commands: ["vitest run --mode long test/docs/receivers.long.test.ts"],
    missing: () =>
      missingLanguages().map(
        (name) => `${name} (Debian: apt-get install ${LANGUAGES[name][2]}; else --without ${name})`,
      ),
    environment: () => ({ WITHOUT: [...without, ...missingLanguages()].join(",") }),
  },
  browser: {
    commands: ["vitest run --mode long test/browser"],
    lacks: () => findChromium() === undefined && "Chromium (Debian: apt-get install chromium; else set CHROMIUM)",
  },
  isolated: {
    commands: ["vitest run --mode all test/journeys test/conformance"],
    environment: () => ({ ISOLATE: "1" }),
  },
  "postgresql-15": withPostgres(15),
  "postgresql-13": withPostgres(13),
  proof: {
    commands: Array.from({ length: SEEDS }, (_, at) => `node test/programs/prove/sync.ts --brief --seed ${seed + at}`),
  },
  attack: { commands: ["node test/programs/attack.ts"] },
  writers: { commands: ["node test/programs/prove/writers.ts --brief"] },
  "proof-webhooks": { commands: ["node test/programs/prove/webhooks.ts"] },
};
const ALL = Object.keys(PARTS);

/** What the files are now, by their content; empty: some are not committed, so that no later run can know them again. */
const filesOfNow = committedFiles();

/** Where the parts that have passed are written down, a line each. */
const PROGRESS = join(tmpdir(), "bridge-test-all.jsonl");

const values = readOptions(`${HELP}\n\nParts: ${ALL.join(", ")}`, {
  only: { type: "string" },
  without: { type: "string" },
  slow: { type: "boolean" },
});
const without = values.without?.split(",") ?? [];
const names = values.only?.split(",") ?? (values.slow ? ALL.filter((name) => !/^(check|gate)$/.test(name)) : ALL);
const passed = passedBefore();
const unknown = [...names.filter((name) => !(name in PARTS)), ...without.filter((name) => !(name in LANGUAGES))];

if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(", ")}; there are ${[...ALL, ...Object.keys(LANGUAGES)].join(", ")}`);
  process.exitCode = 1;
} else if (!succeeds("npm run build")) process.exitCode = 1;
else {
  const outcomes = ALL.filter((name) => names.includes(name)).map((name) => ({ name, ...run(name, PARTS[name]) }));
  console.log();
  for (const { name, result, milliseconds } of outcomes)
    console.log(`${name.padEnd(16)} ${minutes(milliseconds).padStart(9)}  ${result}`);
  console.log(`${minutes(outcomes.reduce((total, { milliseconds }) => total + milliseconds, 0))} in all`);
  if (outcomes.some(({ result }) => result.startsWith("FAILED"))) process.exitCode = 1;
}

/** The languages that this machine has not, although they are asked for. */
function missingLanguages() {
  return (Object.keys(LANGUAGES) as (keyof typeof LANGUAGES)[]).filter((name) => {
    const [program, asked] = LANGUAGES[name];
    return !without.includes(name) && spawnSync(program, [asked]).status !== 0;
  });
}

/** All tests that send SQL to a customer's database, on the server of another version, which may be downloaded first. */
function withPostgres(version: number): Part {
  return {
    commands: ["vitest run --mode all test/adapters/postgres test/sync"],
    lacks: () =>
      findOrFetchPostgres(version) === undefined &&
      `PostgreSQL ${version} (Debian: apt-get install postgresql-${version}; else set POSTGRES_${version} to its bin folder)`,
    environment: () => ({ POSTGRES_PROGRAMS: findOrFetchPostgres(version) ?? "" }),
  };
}

function run(name: string, { commands = [], lacks, missing, environment }: Partial<Part> = {}) {
  const before = passed.get(name);
  if (before !== undefined) return { result: "passed in an earlier run", milliseconds: before };
  const lack = lacks?.();
  if (lack) return { result: `skipped, for want of ${lack}`, milliseconds: 0 };
  const began = Date.now();
  console.log(`\n== ${name}`);
  const failed = commands.filter((command) => !succeeds(command, environment?.()));
  const wrong = [...failed, ...(missing?.() ?? []).map((program) => `there is no ${program}`)];
  const milliseconds = Date.now() - began;
  if (wrong.length > 0) return { result: `FAILED: ${wrong.join("; ")}`, milliseconds };
  const line: Passed = { files: filesOfNow, name, milliseconds };
  if (filesOfNow !== "") appendFileSync(PROGRESS, `${JSON.stringify(line)}\n`);
  return { result: "passed", milliseconds };
}

/** How long each part took that has passed on these files. */
function passedBefore(): ReadonlyMap<string, number> {
  const lines = existsSync(PROGRESS) ? readFileSync(PROGRESS, "utf8").split("\n").filter(Boolean) : [];
  const kept = lines.map((line) => JSON.parse(line) as Passed);
  const known = kept.filter(({ files }) => files === filesOfNow && files !== "");
  return new Map(known.map(({ name, milliseconds }) => [name, milliseconds]));
}

/** The commit's tree, where the working tree has nothing that is not in it. */
function committedFiles(): string {
  const git = (...args: string[]) => spawnSync("git", args, { encoding: "utf8" }).stdout.trim();
  return git("status", "--porcelain") === "" ? git("rev-parse", "HEAD^{tree}") : "";
}

function succeeds(command: string, environment: Readonly<Record<string, string>> = {}): boolean {
  const [program = "", ...args] = command.split(" ");
  const { status, error } = spawnSync(program, args, { stdio: "inherit", env: { ...process.env, ...environment } });
  if (error) throw error;
  return status === 0;
}

function minutes(milliseconds: number): string {
  return `${(milliseconds / 60_000).toFixed(1)} min`;
}
