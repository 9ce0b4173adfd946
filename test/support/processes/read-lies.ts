import { parentPort, workerData } from "node:worker_threads";
import { FOREIGN_READERS } from "../doubles/foreign-readers.ts";
import { lyingTexts } from "../doubles/lying-texts.ts";

/** Letters of any text, and of those that the reader is known to be attacked by: minutes where a reader is quadratic. */
const [LETTERS, MANY_LETTERS] = [30_000, 1_500_000];

/** What hung, or could have, and its next of kin: what is repeated behind what. */
const KNOWN: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  refusalOfPage: ["<!---->", "<!--", "<title>", "<?xml", " ", "<!doctype "].map((piece) => ["", piece]),
  refusalIn: [
    ["<faultcode>sf:A</faultcode>", "<faultstring>"],
    ["<faultcode>sf:A</faultcode><faultstring>", "&amp;amp;"],
    ["", "<faultcode>"],
    ["", "["],
  ],
  "jsonOrRefusal of digits": ['\\"', "\\", "1", "a"].map((piece) => ['{"a":"', piece]),
  "jsonOrRefusal of a description": ['\\"', "\\", "1", "a"].map((piece) => ['{"a":"', piece]),
  bulkError: [" ", "-- ", ":", "a,"].map((piece) => ["A_B:", piece]),
  csvLines: ["a", '""', "\n", ","].map((piece) => ['"Id"\n"', piece]),
};

/** Reads each lying text by one of the readers, and says before each which one it is. */
const { reader } = workerData as { readonly reader: string };
const known = (KNOWN[reader] ?? []).map(([before, piece]): [string, string] => [
  `${piece} again and again behind ${before}`,
  before + piece.repeat(MANY_LETTERS / piece.length),
]);
for (const [name, text] of [...known, ...lyingTexts(LETTERS)]) {
  parentPort?.postMessage(name);
  try {
    await FOREIGN_READERS[reader]?.(text);
  } catch {
    // Refused: all that is asked here is that it ends.
  }
}
