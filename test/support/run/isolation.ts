import type { LogLine } from "../../../lib/local/cloud/lambda/log.ts";

/** With ISOLATE=1 (the part "isolated" of `npm run test:long`) each function of a bridge has only what its template allows. */
export const ISOLATES = process.env["ISOLATE"] === "1";

/** Fails when a function was refused something, also where a second attempt or a sweep has hidden it. */
export function expectNoRefusals(lines: readonly LogLine[]): void {
  const refusals = lines.filter(({ event }) => event === "access denied");
  const sentences = new Set(refusals.map((line) => `${line["function"]} has ${line.message}`));
  if (sentences.size > 0) throw new Error(`grants are missing in the rows of these functions: ${[...sentences]}`);
}
