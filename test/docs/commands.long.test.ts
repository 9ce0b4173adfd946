import { existsSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { DOCUMENTS, PROJECT, shellBlocks } from "./blocks.ts";
import { preparations } from "./preparations/preparations.ts";
import { Reader } from "./reader.ts";

const pages = DOCUMENTS.filter((file) => existsSync(join(PROJECT, file)))
  .map((file) => ({ file, blocks: shellBlocks(file).filter(({ skipped }) => skipped === null) }))
  .filter(({ blocks }) => blocks.length > 0);

test.each(pages)(
  "the commands of $file run as they are written, on an instance that has just begun",
  async ({ blocks }) => {
    const reader = await Reader.begin();
    onTestFinished(() => reader.end());
    const failures: string[] = [];
    for (const block of blocks) {
      reader.open(block);
      try {
        await (block.preparation === null ? reader.types() : preparations[block.preparation]?.(reader));
        reader.close();
      } catch (error) {
        failures.push(`${block.file}:${block.line} ${wordsOf(error)}`);
      }
    }
    expect(failures).toEqual([]);
  },
);

/** What an error says; of an expectation also what there was. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "actual" in error ? `${error.message}\n${inspect(error.actual, { depth: 5 })}` : error.message;
}
