import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { RunningInstance } from "../support/processes/instance.ts";
import { DOCUMENTS, PROJECT, type ShellBlock, shellBlocks } from "./blocks.ts";

const pages = DOCUMENTS.filter((file) => existsSync(join(PROJECT, file)))
  .map((file) => ({ file, blocks: shellBlocks(file).filter(({ skipped }) => skipped === null) }))
  .filter(({ blocks }) => blocks.length > 0);

test.each(pages)(
  "the commands of $file run as they are written, on an instance that has just begun",
  async ({ blocks }) => {
    expect(await failuresOf(blocks)).toEqual([]);
  },
);

test("a command that is wrong would be found, with its page, its line and what it says", async () => {
  const block = { file: "page.md", line: 7, skipped: null, exits: [0] };
  const blocks = [
    { ...block, commands: "npx bridge whoami" },
    { ...block, commands: "npx bridge mapping show Contakt\nnpx bridge whoami" },
    { ...block, line: 9, commands: "npx bridge whoami", exits: [1, 10] },
  ];

  expect(await failuresOf(blocks)).toEqual([
    expect.stringMatching(/^page\.md:7 ended with 5, not 0:\n.*Contakt/s),
    expect.stringMatching(/^page\.md:9 ended with 0, not 1 or 10/),
  ]);
});

/** Runs blocks one after the other against a new instance with its demo, in the project's folder. */
async function failuresOf(blocks: readonly ShellBlock[]): Promise<string[]> {
  const instance = new RunningInstance({ live: true });
  const home = mkdtempSync(join(tmpdir(), "bridge-reader-"));
  const failures: string[] = [];
  try {
    await instance.start();
    for (const { file, line, commands, exits } of blocks) {
      const { code, said } = await run(commands, {
        BRIDGE_DATA_DIR: instance.dataDir,
        HOME: home,
        NPM_CONFIG_UPDATE_NOTIFIER: "false",
        PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter),
      });
      if (!exits.includes(code ?? -1))
        failures.push(`${file}:${line} ended with ${code}, not ${exits.join(" or ")}:\n${said.slice(-2000)}`);
    }
  } finally {
    await instance.destroy();
    rmSync(home, { recursive: true, force: true });
  }
  return failures;
}

/** As a person types it: the first command that fails ends the block. */
async function run(
  commands: string,
  environment: Record<string, string>,
): Promise<{ code: number | null; said: string }> {
  const child = spawn("bash", ["-euo", "pipefail", "-c", commands], {
    cwd: PROJECT,
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (said += String(data)));
  const code = await new Promise<number | null>((resolve, reject) =>
    child.once("close", resolve).once("error", reject),
  );
  return { code, said };
}
