import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BOUNDED } from "./expressions/bounded.ts";
import { type Expression, findExpressions } from "./expressions/find-expressions.ts";
import { hashOf, JUDGE, judge } from "./expressions/judge-expression.ts";

/**
 * Judges every regular expression of bin, functions and lib: none may backtrack for longer than its text is, unless
 * `expressions/bounded.ts` says what bounds that text. Verdicts are kept by the expression's hash, so only new ones take
 * time; the file with them is committed.
 */
const FILE = join(import.meta.dirname, "expressions/verdicts.json");

interface Kept {
  readonly judge: string;
  readonly verdicts: Readonly<Record<string, string>>;
}

const kept = JSON.parse(readFileSync(FILE, "utf8")) as Kept;
const known = kept.judge === JUDGE ? kept.verdicts : {};
const expressions = Map.groupBy(findExpressions(), hashOf);
const verdicts: Record<string, string> = {};
const problems: string[] = [];

for (const [hash, same] of [...expressions].sort(([one], [other]) => one.localeCompare(other))) {
  const [expression] = same as [Expression];
  verdicts[hash] = known[hash] ?? (await judge(expression));
  if (verdicts[hash] === "linear" || expression.text in BOUNDED) continue;
  problems.push(`${same.map(({ place }) => place).join(", ")}: ${expression.text}\n  ${verdicts[hash]}`);
}
const texts = new Set([...expressions.values()].flat().map(({ text }) => text));
for (const text of Object.keys(BOUNDED))
  if (!texts.has(text)) problems.push(`expressions/bounded.ts: no ${text} is left`);

const written = `${JSON.stringify({ judge: JUDGE, verdicts }, null, 2)}\n`;
if (written !== readFileSync(FILE, "utf8")) writeFileSync(FILE, written);
for (const problem of problems) console.error(problem);
console.log(`${expressions.size} expressions, ${problems.length} problems`);
// The judge's helper process would keep this one open.
process.exit(problems.length > 0 ? 1 : 0);
