/** Characters that fill two cells of a terminal: CJK, full-width forms and emoji (Unicode, UAX 11, shortened). */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

/** What steers a terminal: control characters, marks that change the writing direction, and separators of lines. */
const CONTROLS = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

const LINE_ENDS = /[\n\v\f\r\u0085\u2028\u2029]+/g;

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** `text` with what would steer a terminal as JSON escapes it, `\\u001b`: JSON stays the same JSON. Lines and tabs stay. */
export const escaped = (text: string): string =>
  text.replace(CONTROLS, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** `text` on one line, as it is otherwise. */
export const oneLine = (text: string): string => text.replace(LINE_ENDS, " ");

/** `text` on one line, with single blanks and nothing that would steer the terminal. */
export const harmless = (text: string): string => escaped(text.replace(/\s+/g, " "));

/** Cells that `text` fills. */
export function widthOf(text: string): number {
  return /^[\x20-\x7e]*$/.test(text) ? text.length : cells(text).reduce((sum, cell) => sum + cell.width, 0);
}

/** `text` in at most `width` cells, cut with an ellipsis. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let left = width - 1;
  let kept = "";
  for (const cell of cells(text)) {
    left -= cell.width;
    if (left < 0) break;
    kept += cell.text;
  }
  return `${kept}…`;
}

/** `text` filled up with blanks to `width` cells. */
export const pad = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - widthOf(text)));

function cells(text: string) {
  return [...segmenter.segment(text)].map(({ segment }) => ({ text: segment, width: WIDE.test(segment) ? 2 : 1 }));
}
