import { SalesforceRefusal } from "../../model/change/refusal.ts";

const MIB = 1024 * 1024;

/**
 * The most bytes of a whole answer, after decompression, by its kind. A stream of CSV is limited by line instead. `short`
 * are sessions, states and refusals; a page that is longer is asked for in halves (`read-size.ts`); to `saved`, the
 * results of a save, comes twice what was sent, because a refusal repeats its value.
 */
export const ANSWER_BYTES = { short: MIB / 4, page: 8 * MIB, description: 16 * MIB, saved: 2 * MIB } as const;

/** The body as text; null when it has more bytes than `most`: then the rest is not read. */
export async function textOf({ body }: Response, most: number): Promise<string | null> {
  const decoder = new TextDecoder();
  let [text, bytes] = ["", 0];
  // Joined as they come, because a list of pieces of a byte each would take 200 bytes for each.
  for await (const piece of body ?? []) {
    bytes += piece.length;
    if (bytes > most) return null;
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}

/** The refusal of an answer that is longer than any of its kind. A save may have been carried out. */
export function tooLarge(url: string, most: number): SalesforceRefusal {
  const { host, pathname } = new URL(url);
  const message = `${host} answered ${pathname} with more than ${most / MIB} MiB, which is longer than such an answer may be`;
  return new SalesforceRefusal({ kind: "transient", code: "TOO_LARGE", message, mayHaveRun: true });
}

export const isTooLarge = (error: unknown): error is SalesforceRefusal =>
  error instanceof SalesforceRefusal && error.refusal.code === "TOO_LARGE";
