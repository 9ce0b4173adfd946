import { createHash } from "node:crypto";
import { check } from "recheck";
import recheck from "recheck/package.json" with { type: "json" };
import type { Expression } from "./find-expressions.ts";

/** The judge's version: of another one no verdict holds. */
export const JUDGE: string = `recheck ${recheck.version}`;

/** Milliseconds; most take some hundredths of a second. */
const LONGEST = 120_000;

/** The name of an expression's verdict. */
export const hashOf = ({ text }: Expression): string => createHash("sha256").update(text).digest("hex").slice(0, 16);

/** `linear` where no text makes the expression backtrack for longer than the text is, else what one does. */
export async function judge({ source, flags, isWhole }: Expression): Promise<string> {
  if (!isWhole) return "built of parts";
  const found = await check(source, flags, { timeout: LONGEST, randomSeed: 1 });
  if (found.status === "safe") return "linear";
  if (found.status === "unknown") return `unknown (${found.error.kind})`;
  const { complexity, attack } = found;
  return `${complexity.summary} for ${attack.pattern}`;
}
