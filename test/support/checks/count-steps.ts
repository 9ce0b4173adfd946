type Method = (this: unknown, ...values: unknown[]) => unknown;

/** Methods that look at the whole of their string. */
const WHOLE = ["includes", "match", "matchAll", "replace", "replaceAll", "search", "split", "toLowerCase", "trim"];
const WHOLE_TOO = ["trimEnd", "trimStart", "toUpperCase", "normalize", "at"];

/**
 * The letters that the work looks at, by each call of a method of strings and of expressions, and of JSON.parse: a
 * number without a clock, so the same on every machine. An expression counts once for each letter that it passes over;
 * that none does more is the proof of `npm run check:expressions`.
 */
export async function countSteps(work: () => unknown): Promise<number> {
  let steps = 0;
  const replaced: (() => void)[] = [];
  const count = (
    owner: object,
    name: string,
    letters: (self: unknown, values: unknown[], result: unknown) => number,
  ) => {
    const original = Reflect.get(owner, name) as Method;
    const counted: Method = function (...values) {
      const result = original.apply(this, values);
      steps += letters(this, values, result);
      return result;
    };
    Object.defineProperty(owner, name, { value: counted, configurable: true, writable: true });
    replaced.push(() => Object.defineProperty(owner, name, { value: original, configurable: true, writable: true }));
  };
  for (const name of [...WHOLE, ...WHOLE_TOO]) count(String.prototype, name, (self) => String(self).length);
  for (const name of ["charCodeAt", "startsWith", "endsWith", "slice"]) count(String.prototype, name, () => 1);
  count(String.prototype, "indexOf", (self, [, from = 0], found) =>
    Math.abs((Number(found) < 0 ? String(self).length : Number(found)) - Number(from)),
  );
  count(RegExp.prototype, "exec", (_self, [text], found) =>
    found === null
      ? String(text).length
      : (found as RegExpExecArray).index + String((found as RegExpExecArray)[0]).length,
  );
  count(JSON, "parse", (_self, [text]) => String(text).length);
  try {
    await Promise.resolve(work()).catch(() => undefined);
  } catch {
    // A text that is refused was read as well.
  } finally {
    for (const restore of replaced) restore();
  }
  return steps;
}
