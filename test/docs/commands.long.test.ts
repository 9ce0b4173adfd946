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
