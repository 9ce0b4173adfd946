import { execFile } from "node:child_process";
import { existsSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { longTest } from "../support/run/whole-grid.ts";
import { eachCliWorld } from "./world.ts";

const PROJECT = join(import.meta.dirname, "../..");

const world = eachCliWorld(beforeAll);
beforeAll(async () => {
  symlinkSync(join(PROJECT, "bin/bridge.mjs"), join(world.line.folder, "bridge"));
  world.answer("GET /monitoring/mappings", [{ sf_object: "Contact" }, { sf_object: "Account" }]);
  world.line.file("mappings.json", "{}");
  world.line.file("completion.bash", (await run("bridge", ["completion", "bash"])).stdout);
});

/** What a user sees who types this and presses Tab in a bash that has sourced what `bridge completion bash` printed. */
async function tab(...words: readonly string[]): Promise<readonly string[]> {
  const script = `
    _get_comp_words_by_ref() { words=("\${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=\${COMP_WORDS[COMP_CWORD]}; }
    compopt() { :; }
    source completion.bash && COMP_WORDS=("$@") && COMP_CWORD=$(($# - 1))
    __bridge_complete; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await run("bash", ["-c", script, "bash", ...words]);
  return stdout.split("\n").filter(Boolean);
}

const run = (shell: string, args: readonly string[]) => {
  const { folder } = world.line;
  const path = [folder, join(PROJECT, "node_modules/.bin"), process.env["PATH"]].join(delimiter);
  return promisify(execFile)(shell, args, { cwd: folder, env: { ...world.signedIn, HOME: folder, PATH: path } });
};

longTest(
  "Tab in bash completes commands, options behind any command, mappings by their object, and files",
  async () => {
    expect(await tab("bridge", "mapping", "re")).toEqual(["reload", "restore", "reject-deletes"]);
    expect(await tab("bridge", "mapping", "list", "--js")).toEqual(["--json"]);
    expect(await tab("bridge", "mapping", "show", "")).toEqual(["Contact", "Account"]);
    expect(await tab("bridge", "errors", "--table", "")).toEqual([]);
    expect(await tab("bridge", "config", "import", "map")).toEqual(["mappings.json"]);
    world.refuse("GET /monitoring/mappings", 500, "INTERNAL_ERROR");
    expect(await tab("bridge", "poll", "")).toEqual([]);
  },
);

test.skipIf(!existsSync("/usr/bin/fish"))("Tab in fish shows what each command is for", async () => {
  const { stdout } = await run("fish", ["-c", 'bridge completion fish | source; complete -C "bridge tok"']);

  expect(stdout).toBe("token\tAPI tokens of the workspace\n");
});
