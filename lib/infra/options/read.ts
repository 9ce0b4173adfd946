import type { Context } from "./names.ts";

/** An option as text; null when it was left out. The command line hands over text, cdk.json may hold other things. */
function textOf(context: Context, name: string): string | null {
  const asked: unknown = context.tryGetContext(name);
  return asked === undefined ? null : String(asked).trim();
}

/** An option as text of a certain form; throws with what it must be. */
export function textLike(context: Context, name: string, form: RegExp, what: string): string | null {
  const asked = textOf(context, name);
  if (asked === null || form.test(asked)) return asked;
  throw new Error(`${name} must be ${what}, not "${asked}"`);
}

/** A list, `a,b` or as an array, whose every part has a certain form; null when it was left out. */
export function listLike(
  context: Context,
  name: string,
  form: { readonly test: (part: string) => boolean },
  what: string,
): readonly string[] | null {
  const parts = textOf(context, name)
    ?.split(",")
    .map((part) => part.trim());
  const wrong = parts?.find((part) => !form.test(part));
  if (wrong !== undefined) throw new Error(`${name} must be ${what}, several parted by commas, not "${wrong}"`);
  return parts ?? null;
}

/** A switch, off when it was left out. */
export function isOn(context: Context, name: string): boolean {
  const asked = textOf(context, name) ?? "false";
  if (asked === "true" || asked === "false") return asked === "true";
  throw new Error(`${name} must be true or false, not "${asked}"`);
}
