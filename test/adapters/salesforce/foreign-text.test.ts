import { Worker } from "node:worker_threads";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countSteps } from "../../support/checks/count-steps.ts";
import { FOREIGN_READERS } from "../../support/doubles/foreign-readers.ts";
import { isWholeGrid, longTest } from "../../support/run/whole-grid.ts";

/** One text; only a hang comes near it. */
const HANG_MILLISECONDS = 120_000;

/** The text at which a reader hangs; null: it came to the end of all. */
function hangsAt(reader: string): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const file = new URL("../../support/processes/read-lies.ts", import.meta.url);
    const worker = new Worker(file, { workerData: { reader } });
    let text = "the beginning";
    const end = (hangs: string | null) => {
      clearTimeout(alarm);
      void worker.terminate();
      resolve(hangs);
    };
    const alarm = setTimeout(() => end(text), HANG_MILLISECONDS);
    worker.on("message", (next: string) => {
      text = next;
      alarm.refresh();
    });
    worker.on("error", reject);
    worker.on("exit", () => end(null));
  });
}

describe.each(Object.keys(FOREIGN_READERS))("%s", (name) => {
  longTest("hangs at none of the texts that a lying org may send", async () => {
    expect(await hangsAt(name)).toBeNull();
  });

  test("takes at most 2.5 times the steps for twice the text, whatever is repeated behind whatever", async () => {
    const read = FOREIGN_READERS[name] as (text: string) => unknown;
    const word = fc.constantFrom(...WORDS);
    const texts = fc.tuple(fc.array(word, { maxLength: 3 }), fc.array(word, { minLength: 1, maxLength: 4 }), word);

    await fc.assert(
      fc.asyncProperty(texts, async ([before, repeated, behind]) => {
        const made = (letters: number) => {
          const piece = repeated.join("");
          return before.join("") + piece.repeat(Math.ceil(letters / piece.length)) + behind;
        };
        const [once, twice] = [made(20_000), made(40_000)];
        const steps = Math.max(await countSteps(() => read(once)), once.length);

        expect(await countSteps(() => read(twice))).toBeLessThanOrEqual(2.5 * steps);
      }),
      { numRuns: isWholeGrid ? 60 : 12 },
    );
  });
});

const WORDS = [
  ..."<>/!?-[]{}\"'\\,:;.&=#\n\r\t aZ01e\uFEFF",
  ..."<!-- --> <?xml <html <title> </title> <faultcode> </faultcode> <faultstring> </faultstring>".split(" "),
  ...'&amp; <![CDATA[ ]]> \\" "" "," -- INVALID_FIELD:'.split(" "),
  "not found for field ",
];
