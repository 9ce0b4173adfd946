/** Bytes of UTF-8 that are kept of the beginning of a text, and characters of its end. */
const HEAD_BYTES = 4_096;
const TAIL_CHARACTERS = 200;

/**
 * A text that others wrote, a refusal or an error, as it is kept: whole up to 4 KB of UTF-8, else its beginning and its
 * end, `... (truncated, 1,234,567 characters) ...`. Salesforce's refusals repeat the value before they name the limit. The
 * mark is ASCII, which a database of any encoding takes.
 */
export function cutText(text: string): string {
  if (text.length * 3 <= HEAD_BYTES) return text;
  const head = encoder.encodeInto(text, new Uint8Array(HEAD_BYTES)).read;
  if (head === text.length) return text;
  const marked = `${text.slice(0, head)}... (truncated, ${text.length.toLocaleString("en-US")} characters) ...`;
  const tail = text.slice(Math.max(head, text.length - TAIL_CHARACTERS)).replace(/^[\udc00-\udfff]/, "");
  // Encoded and decoded, or the part would keep the whole text in memory.
  return decoder.decode(encoder.encode(marked + tail));
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
