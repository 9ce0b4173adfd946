import { existsSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { DOCUMENTS, PROJECT, type ShellBlock, shellBlocks } from "./blocks.ts";
import { preparations } from "./preparations/preparations.ts";
import { Reader } from "./reader.ts";

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
  const wrong: readonly (readonly [string | null, string])[] = [
    [null, "npx bridge mapping show Contakt\nnpx bridge whoami"],
    ["npm", "npm install\nnpm run chek"],
    ["upgrade", "git pull --everything"],
    ["psql", 'psql "postgresql://127.0.0.1/bridge" -x "SELECT 1"'],
    ["webhook", "npx bridge webhook list"],
    ["doorbell", `${PREPARE}\nsf project deploy start --metadata-folder doorbell`],
    ["heroku-rehearsal", "heroku connect:export --app acme\nheroku connect:stop --app acme"],
  ];
  const block = { file: "page.md", skipped: null, exits: [0] };
  const blocks = wrong.map(([preparation, commands], at) => ({ ...block, line: at, preparation, commands }));
  const ended = { ...block, line: 9, preparation: null, commands: "npx bridge whoami", exits: [1, 10] };

  expect(await failuresOf([...blocks, ended])).toEqual([
    expect.stringMatching(/^page\.md:0 ended with 5, not 0:\n.*Contakt/s),
    expect.stringMatching(/^page\.md:1 ended with 64, .*chek/s),
    expect.stringMatching(/^page\.md:2 ended with 129, /),
    expect.stringMatching(/^page\.md:3 ended with 1, .*-x/s),
    "page.md:4 has no whk_… to fill in",
    expect.stringMatching(/^page\.md:5 ended with 1, .*metadata-folder/s),
    expect.stringMatching(/^page\.md:6 ended with 64, .*connect:stop/s),
    expect.stringMatching(/^page\.md:9 ended with 0, not 1 or 10/),
  ]);
});

const PREPARE =
  "npx bridge mapping update Contact --doorbell on\nnpx bridge doorbell --prepare doorbell --user ada@example.com";

/** Types blocks one after the other, as a reader with a new instance and its demo. */
async function failuresOf(blocks: readonly ShellBlock[]): Promise<string[]> {
  const reader = await Reader.begin();
  const failures: string[] = [];
  try {
    for (const block of blocks) {
      const { file, line, preparation } = block;
      reader.open(block);
      try {
        await (preparation === null ? reader.types() : preparations[preparation]?.(reader));
        reader.close();
      } catch (error) {
        failures.push(`${file}:${line} ${wordsOf(error)}`);
      }
    }
  } finally {
    await reader.end();
  }
  return failures;
}

/** What an error says; of an expectation also what there was. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "actual" in error ? `${error.message}\n${inspect(error.actual, { depth: 5 })}` : error.message;
}
