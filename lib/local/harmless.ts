/** What steers a terminal: control characters, marks that change the writing direction, and separators of lines. */
const CONTROLS = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** `text` with what would steer a terminal as JSON escapes it, `\u001b`: JSON stays the same JSON. Lines and tabs stay. */
export const harmless = (text: string): string =>
  text.replace(CONTROLS, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
