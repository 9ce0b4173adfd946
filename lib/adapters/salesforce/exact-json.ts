/** More than any answer has: the widest page has 200,000. A value of two letters may take hundreds of bytes. */
const MOST_VALUES = 500_000;

/** A JSON answer with every number as the digits it came in, so that no decimal passes through a float. */
export const parseExactly = (text: string): unknown => JSON.parse(quoteNumbers(text));

/** A JSON answer as it is; like the other it throws when there are more values than any answer has. */
export const parseBounded = (text: string): unknown => JSON.parse(quoteNumbers(text) && text);

const [QUOTE, PLUS, COMMA, MINUS, POINT, ZERO, NINE] = [34, 43, 44, 45, 46, 48, 57];
const [CAPITAL_E, BRACKET, BACKSLASH, SMALL_E, BRACE] = [69, 91, 92, 101, 123];

/** Looks at each letter once, and passes over strings by their quotes, so that digits inside them are left alone. */
function quoteNumbers(text: string): string {
  let [quoted, taken, values] = ["", 0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === COMMA || code === BRACKET || code === BRACE) values += 1;
    if (code === QUOTE) at = closingQuote(text, at);
    if (code !== MINUS && !isDigit(code)) continue;
    const from = at;
    while (isOfNumber(text.charCodeAt(at + 1))) at += 1;
    quoted += `${text.slice(taken, from)}"${text.slice(from, at + 1)}"`;
    taken = at + 1;
  }
  if (values > MOST_VALUES) throw new Error(`the answer has more than ${MOST_VALUES} values`);
  return quoted + text.slice(taken);
}

const isDigit = (code: number) => code >= ZERO && code <= NINE;

const isOfNumber = (code: number) =>
  isDigit(code) || code === POINT || code === MINUS || code === PLUS || code === SMALL_E || code === CAPITAL_E;

/** The end of the text where the string is cut off. */
function closingQuote(text: string, open: number): number {
  for (let close = text.indexOf('"', open + 1); close >= 0; close = text.indexOf('"', close + 1)) {
    let before = close - 1;
    while (text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((close - before) % 2 === 1) return close;
  }
  return text.length;
}
