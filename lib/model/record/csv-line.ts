/**
 * A line of CSV as it came, without its end, and the names of its values; every value may be quoted (RFC 4180). It is
 * cut into values on demand: most lines of a first load go to PostgreSQL as they are.
 */
export interface CsvLine {
  readonly names: readonly string[];
  readonly text: string;
}

/** Lines of one piece of an answer, and how long the piece was. */
export interface CsvPiece {
  readonly lines: readonly CsvLine[];
  readonly characters: number;
}

/** Lines by the batch: it ends with the piece in which it reaches so many of them, or characters. */
export async function* batchesOf(
  pieces: AsyncIterable<CsvPiece>,
  most: { readonly lines: number; readonly characters: number },
): AsyncGenerator<CsvLine[]> {
  let [batch, size]: [CsvLine[], number] = [[], 0];
  for await (const { lines, characters } of pieces) {
    for (const line of lines) batch.push(line);
    size += characters;
    if (batch.length === 0 || (batch.length < most.lines && size < most.characters)) continue;
    yield batch;
    [batch, size] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}

const [COMMA, QUOTE, LINE_FEED, CARRIAGE_RETURN] = [44, 34, 10, 13];

/** All values of a line, in the order of its names. */
export function valuesIn({ text }: CsvLine): string[] {
  const values: string[] = [];
  for (let at = 0; ; at += 1) {
    const end = behindValue(text, at);
    values.push(cut(text, at, end));
    if (end === text.length) return values;
    at = end;
  }
}

/** The line with values rewritten; `rewrites` are by place, null where a value stays. No rewritten value needs quotes. */
export function rewritten({ text }: CsvLine, rewrites: readonly (((value: string) => string) | null)[]): string {
  let [line, copied] = ["", 0];
  for (let [at, place] = [0, 0]; place < rewrites.length; place++) {
    const end = behindValue(text, at);
    const value = rewrites[place] && cut(text, at, end);
    const next = value && rewrites[place]?.(value);
    if (next && next !== value) {
      line += text.slice(copied, at) + next;
      copied = end;
    }
    at = end + 1;
  }
  return copied === 0 ? text : line + text.slice(copied);
}

/** One value of a line; undefined: none has this name. */
export function valueIn({ names, text }: CsvLine, name: string): string | undefined {
  const place = names.indexOf(name);
  if (place < 0) return undefined;
  let at = 0;
  for (let index = 0; index < place; index++) at = behindValue(text, at) + 1;
  return cut(text, at, behindValue(text, at));
}

/** A whole line of a text: where it ends, where the next one begins, and how many values it has. */
export interface Bounds {
  readonly end: number;
  readonly next: number;
  readonly values: number;
}

/** The line that begins at `from`; null when it is not whole. */
export function boundsAt(text: string, from: number): Bounds | null {
  for (let at = from, values = 1; ; at += 1, values += 1) {
    at = behindValue(text, at);
    if (at === text.length) return null;
    const mark = text.charCodeAt(at);
    if (mark === COMMA) continue;
    if (mark === LINE_FEED) return { end: at, next: at + 1, values };
    if (mark !== CARRIAGE_RETURN) throw new Error(`the CSV has ${JSON.stringify(text[at])} behind a quoted value`);
    return at + 1 < text.length ? { end: at, next: at + 2, values } : null;
  }
}

/** The place behind the value that begins at `at`: at its comma, or at the end of the line or text. */
function behindValue(text: string, at: number): number {
  return text.charCodeAt(at) === QUOTE ? behindQuoted(text, at) : behindPlain(text, at);
}

/** Looked for by their quotes instead of letter by letter, which is some ten times as fast. */
function behindQuoted(text: string, at: number): number {
  for (let from = at + 1; ; ) {
    const close = text.indexOf('"', from);
    if (close < 0) return text.length;
    // What follows decides whether it is the end or one of two.
    if (text.charCodeAt(close + 1) !== QUOTE) return close + 1;
    from = close + 2;
  }
}

function behindPlain(text: string, at: number): number {
  for (let end = at; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (code === COMMA || code === LINE_FEED || code === CARRIAGE_RETURN) return end;
  }
  return text.length;
}

function cut(text: string, from: number, end: number): string {
  if (text.charCodeAt(from) !== QUOTE) return text.slice(from, end);
  const value = text.slice(from + 1, end - 1);
  return value.includes('"') ? value.replaceAll('""', '"') : value;
}
