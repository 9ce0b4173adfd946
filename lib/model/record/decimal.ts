/** A number as PostgreSQL, Salesforce and JavaScript write it: `350000000.00`, `3.5E8`. */
const DECIMAL = /^(-?)(\d+)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?$/i;

/** Most of what Salesforce sends: `1000.0`. */
const WHOLE = /^-?[1-9]\d*\.0$/;

/** Digits that a double, in which Salesforce keeps a number, holds without loss. */
const EXACT_DIGITS = 15;

/**
 * A number in its plain digits: `5.0` is 5 and `9.9213206E7` is 99213206, so that every type of column reads it. Nothing
 * is rounded; a text that is no number stays.
 */
export function plainNumber(text: string): string {
  if (WHOLE.test(text)) return text.slice(0, -".0".length);
  const parts = DECIMAL.exec(text);
  if (!parts) return text;
  const [, sign, whole = "", fraction = "", exponent = "0"] = parts;
  if (fraction === "" && exponent === "0" && !whole.startsWith("0")) return text;
  const digits = `${whole}${fraction}`;
  const point = whole.length + Number(exponent);
  const before = digits.slice(0, Math.max(point, 0)).padEnd(point, "0").replace(/^0+/, "") || "0";
  const behind = withoutEndingZeros(`${"0".repeat(Math.max(-point, 0))}${digits.slice(Math.max(point, 0))}`);
  if (behind === "") return before === "0" ? "0" : `${sign}${before}`;
  return `${sign}${before}.${behind}`;
}

function withoutEndingZeros(digits: string): string {
  let end = digits.length;
  while (digits[end - 1] === "0") end -= 1;
  return digits.slice(0, end);
}

/** Whether two texts are one number, as Salesforce keeps it: all decimal places, but no more digits than a double has. */
export function isSameNumber(one: string, other: string): boolean {
  const [left, right] = [plainNumber(one), plainNumber(other)];
  if (left === right) return true;
  return [left, right].some((text) => digitsOf(text) > EXACT_DIGITS) && Number(left) === Number(right);
}

const digitsOf = (text: string): number => text.replace(/^-?0?\.?0*|\./g, "").length;
