/** A JSON answer with every number as the digits it came in, so that no decimal passes through a float. */
export function parseExactly(text: string): unknown {
  return JSON.parse(text.replace(STRINGS_AND_NUMBERS, quoteNumber));
}

// Strings are matched too, so that digits inside them are left alone.
const STRINGS_AND_NUMBERS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

function quoteNumber(token: string): string {
  return token.startsWith('"') ? token : `"${token}"`;
}
