import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/run/temporary-folder.ts";
import { writeFunctions } from "./fixture-functions.ts";

const PROJECT = resolve(import.meta.dirname, "../..");

test("the same sources give the same deployment, byte for byte, wherever they lie", () => {
  const here = synthesized("bridge");
  const elsewhere = synthesized("another/and/longer/path");

  expect(Object.keys(here)).toContain("Bridge-dev-Api.template.json");
  expect(elsewhere).toEqual(here);
});

/** The project as git hands it out, with dependencies installed and nothing built, and fixtures for functions. */
function freshClone(path: string): string {
  const folder = join(temporaryFolder(), path);
  mkdirSync(folder, { recursive: true });
  for (const name of [".github", "CHANGELOG.md", "bin", "lib", "cdk.json", "package.json", "tsconfig.json"]) {
    cpSync(join(PROJECT, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(PROJECT, "node_modules"), join(folder, "node_modules"));
  writeFunctions(join(folder, "functions"));
  return folder;
}

/** What `cdk synth` writes, offline: every file's content by its path. The CLI takes a second more and adds nothing. */
function synthesized(path: string): Record<string, string> {
  const outdir = join(temporaryFolder(), "cdk.out");
  execFileSync(process.execPath, ["bin/deploy.ts"], {
    cwd: freshClone(path),
    env: { PATH: "", CDK_OUTDIR: outdir },
    stdio: "inherit",
  });
  const files = readdirSync(outdir, { recursive: true, encoding: "utf8" }).sort();
  return Object.fromEntries(
    files
      .filter((file) => statSync(join(outdir, file)).isFile())
      .map((file) => [file, readFileSync(join(outdir, file), "latin1")]),
  );
}
