import { spawnSync } from "node:child_process";
import { readOptions } from "../../lib/local/read-options.ts";
import { findChromium } from "../support/clients/browser.ts";
import { findPostgres } from "../support/run/older-postgres.ts";

const HELP = `npm run test:long [-- --only NAME,NAME]: what takes too long for npm test, part after part. At the end it
names each part with its result and its time, and each part that this machine could not run with what is missing.`;

/** Seeds of the brief proof that follow each other: three in a row have killed at every point. */
const SEEDS = 10;

interface Part {
  readonly name: string;
  /** What this machine lacks for it; null: nothing. */
  readonly lacks: string | null;
  /** All of them run, whatever the result of the ones before. */
  readonly commands: readonly (readonly string[])[];
  readonly environment?: Readonly<Record<string, string>>;
}

interface Outcome {
  readonly name: string;
  readonly result: string;
  readonly milliseconds: number;
}

const parts = allParts();
const values = readOptions(`${HELP}\n\nParts: ${parts.map(({ name }) => name).join(", ")}`, {
  only: { type: "string" },
});
const names = values.only?.split(",") ?? parts.map(({ name }) => name);
const unknown = names.filter((name) => !parts.some((part) => part.name === name));

if (unknown.length > 0)
  fail(`no such part: ${unknown.join(", ")}; there are ${parts.map(({ name }) => name).join(", ")}`);
else if (!succeeds(["npm", "run", "build"])) fail("the build failed");
else {
  const outcomes = parts.filter(({ name }) => names.includes(name)).map(run);
  console.log(`\n${outcomes.map(asLine).join("\n")}`);
  const sum = outcomes.reduce((total, { milliseconds }) => total + milliseconds, 0);
  console.log(`${minutes(sum)} in all`);
  if (outcomes.some(({ result }) => result.startsWith("FAILED"))) process.exitCode = 1;
}

function allParts(): Part[] {
  const long = ["vitest", "run", "--mode", "long"];
  const seed = Date.now() % 1_000_000;
  const seeds = Array.from({ length: SEEDS }, (_, at) => String(seed + at));
  return [
    { name: "long", lacks: null, commands: [[...long, "--exclude", "test/browser/**"]] },
    {
      name: "browser",
      lacks: findChromium() === undefined ? "Chromium (Debian: apt-get install chromium; else set CHROMIUM)" : null,
      commands: [[...long, "test/browser"]],
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
    { name: "proof-webhooks", lacks: null, commands: [["node", "test/programs/prove/webhooks.ts"]] },
  ];
}

/** All tests that send SQL to a customer's database, on the server of another version. */
function withPostgres(version: number): Part {
  const programs = findPostgres(version);
  return {
    name: `postgresql-${version}`,
    lacks:
      programs === undefined
        ? `PostgreSQL ${version} (Debian: apt-get install postgresql-${version}; else set POSTGRES_${version} to its bin folder)`
        : null,
    commands: [["vitest", "run", "--mode", "all", "test/adapters/postgres", "test/sync"]],
    ...(programs !== undefined && { environment: { POSTGRES_PROGRAMS: programs } }),
  };
}

function run({ name, lacks, commands, environment }: Part): Outcome {
  if (lacks !== null) return { name, result: `skipped, for want of ${lacks}`, milliseconds: 0 };
  const began = Date.now();
  console.log(`\n== ${name}`);
  const failed = commands.filter((command) => !succeeds(command, environment));
  const result = failed.length === 0 ? "passed" : `FAILED: ${failed.map((command) => command.join(" ")).join("; ")}`;
  return { name, result, milliseconds: Date.now() - began };
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
