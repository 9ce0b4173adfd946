import fc from "fast-check";
import { expect, test } from "vitest";
import { countSteps } from "../../support/checks/count-steps.ts";
import { FOREIGN_READERS } from "../../support/doubles/foreign-readers.ts";

test.each(Object.entries(FOREIGN_READERS))(
  "%s takes at most 2.5 times the steps for twice the text, whatever is repeated behind whatever",
  async (_, read: (text: string) => unknown) => {
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
      { numRuns: 12 },
    );
  },
);

const WORDS = [
  ..."<>/!?-[]{}\"'\\,:;.&=#\n\r\t aZ01e\uFEFF",
  ..."<!-- --> <?xml <html <title> </title> <faultcode> </faultcode> <faultstring> </faultstring>".split(" "),
  ...'&amp; <![CDATA[ ]]> \\" "" "," -- INVALID_FIELD:'.split(" "),
  "not found for field ",
];
