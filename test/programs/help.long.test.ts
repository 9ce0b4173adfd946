import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";

const PROJECT = resolve(import.meta.dirname, "../..");

const { scripts } = JSON.parse(readFileSync(join(PROJECT, "package.json"), "utf8")) as {
  readonly scripts: Readonly<Record<string, string>>;
};

/** What measures, proves or drills, by the name of its script; each runs for minutes. */
const PROGRAMS = Object.entries(scripts).flatMap(([name, command]) =>
  /^(bench|drill|prove):|^(attack|soak|structure|judge|test:all)$/.test(name)
    ? [[name, command.split(" ").at(-1) ?? ""] as const]
    : [],
);

const run = (program: string, option: string) =>
  spawnSync(process.execPath, [program, option], { cwd: PROJECT, encoding: "utf8" });

describe.each(PROGRAMS)("npm run %s", (name, program) => {
  test("says with --help what it does, and does nothing", () => {
    const { status, stdout } = run(program, "--help");

    expect(status).toBe(0);
    expect(stdout.startsWith(`npm run ${name}`)).toBe(true);
  });

  test("refuses an unknown option, with a sentence", () => {
    const { status, stdout, stderr } = run(program, "--nonsense");

    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toBe("Unknown option '--nonsense': --help names the options\n");
  });
});
