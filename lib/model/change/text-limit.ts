import { traitsOf } from "../mapping/field-type.ts";
import type { Column } from "../mapping/shape.ts";

/** Characters that a field holds, by its describe (markup of rich text counts); null: unknown, or no such text. */
export function textLimit({ type, length, outgrown }: Column): number | null {
  const limit = outgrown?.length ?? length;
  return traitsOf(type).limitsText && limit > 0 ? limit : null;
}

/**
 * Whether Salesforce is sure to refuse a text as too long. In doubt it is not: white space around it is trimmed, a line
 * break of two characters may become one, and a character beyond U+FFFF counts once.
 */
export function isTooLong(column: Column, text: string): boolean {
  const limit = textLimit(column);
  if (limit === null || text.length <= limit) return false;
  let [from, to, characters] = [0, text.length, 0];
  while (from < to && text.charCodeAt(from) <= 0x20) from += 1;
  while (to > from && text.charCodeAt(to - 1) <= 0x20) to -= 1;
  for (let at = from; at < to && characters <= limit; at += 1) {
    const isHalf = text.charCodeAt(at) >>> 10 === 0x37; // the second half of a pair
    if (!isHalf && !text.startsWith("\r\n", at)) characters += 1;
  }
  return characters > limit;
}
