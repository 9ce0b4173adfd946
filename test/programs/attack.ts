import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readOptions } from "../../lib/local/read-options.ts";
import type { PartName } from "./attack/parts.ts";

const PARTS: Readonly<Record<PartName, string>> = {
  roles: "a database role without rights, at every table and function of Bridge's",
  redirects: "an org and a receiver that redirect",
  matrix: "every endpoint by every kind of token",
  addresses: "hosts in every spelling, and names that lead where they must not, under production's rules",
  receivers: "receivers of webhooks that stall, flood, lie and redirect",
  names: "names of objects, fields and tables that break out of SQL",
  terminal: "words of an org, a database and a service that steer a terminal, in the output of every command",
  database: "a database server that lies, by every message of the protocol at every moment, beside another tenant",
  org: "an org, or a host in its place, that floods, compresses and never ends",
  rows: "hostile values, one of 100 MB",
  shadows: "operators, functions and types that a role without rights creates in the schema public",
  loops: "triggers of the owner's by which no write of Bridge's takes place",
  poison: "what a tenant's database or a stored item should not hold, beside another tenant",
  fuzz: "20,000 requests near and far from what the API takes",
};
const NAMES = Object.keys(PARTS);

const HELP = `npm run attack [-- --only NAME,NAME] [--seed N] [--json]

Attacks a running Bridge with a database and an org of its own, all on this machine, for ten minutes at most. A finding
is a wrong let-in, an answer 5xx, a hang, a stack trace, a secret in an answer, an address that must not be reached, or
a row without an end. Ends with 1 when there is one. What is tried:

${Object.entries(PARTS)
  .map(([name, what]) => `  ${name.padEnd(10)} ${what}`)
  .join("\n")}

  --only     some of them
  --seed N   the same requests again (chosen and printed unless given)
  --json     the figures for programs`;

const options = readOptions(HELP, { only: { type: "string" }, seed: { type: "string" }, json: { type: "boolean" } });
const only = options.only?.split(",") ?? NAMES;
const seed = Number(options.seed ?? Date.now() % 1_000_000);
const unknown = only.filter((name) => !NAMES.includes(name));

if (unknown.length > 0) fail(`no such part: ${unknown.join(", ")}; there are ${NAMES.join(", ")}`);
else if (!Number.isInteger(seed)) fail("--seed takes a whole number");
else attack();

interface Figures {
  readonly tried: number;
  readonly seconds: number;
  readonly findings: readonly string[];
}

function attack(): void {
  const folder = mkdtempSync(join(tmpdir(), "bridge-attack-"));
  const file = join(folder, "figures.json");
  const args = ["run", "--mode", "long", "test/programs/attack/attack.long.test.ts", "--reporter", "dot"];
  const env = { ...process.env, BRIDGE_ATTACK: JSON.stringify({ seed, only, file }) };
  // What the functions log is no figure.
  const stdio = ["ignore", "ignore", "inherit"] as const;
  const { status, error } = spawnSync("vitest", args, { stdio: [...stdio], env, timeout: 3_600_000 });
  const figures = read(file);
  rmSync(folder, { recursive: true, force: true });
  if (options.json) console.log(JSON.stringify({ seed, parts: figures }));
  else report(figures);
  const undone = only.filter((name) => figures[name] === undefined);
  if (undone.length > 0)
    fail(`not tried to the end: ${undone.join(", ")} (${error?.message ?? `vitest ended with ${status}`})`);
  else if (status !== 0) process.exitCode = 1;
}

function report(figures: ReturnType<typeof read>): void {
  for (const [name, { tried, seconds, findings }] of Object.entries(figures)) {
    console.log(`${name.padEnd(10)} ${String(tried).padStart(7)} tried ${seconds} s  ${findings.length} findings`);
    for (const finding of findings.slice(0, 20)) console.log(`  ${finding}`);
  }
  console.log(`${Object.values(figures).flatMap(({ findings }) => findings).length} findings (seed ${seed})`);
}

/** Of the parts that came to their end. */
function read(file: string): Readonly<Record<string, Figures>> {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Readonly<Record<string, Figures>>;
  } catch {
    return {};
  }
}

function fail(reason: string): void {
  console.error(reason);
  process.exitCode = 1;
}
