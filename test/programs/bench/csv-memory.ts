import { liveBytes } from "./live-bytes.ts";

/** What reading a CSV showed. */
export interface CsvRead {
  readonly entries: number;
  readonly bytes: number;
  /** Live bytes of the server after each twentieth of the entries. */
  readonly live: readonly number[];
}

const LOOKS = 20;

/**
 * How many bytes more the server held on average in the second half than in the first. What it holds swings by some
 * megabytes with the piece that is under way and with the beats in between, so single looks say little.
 */
export function growthOf({ live }: CsvRead): number {
  const middle = Math.floor(live.length / 2);
  const mean = (looks: readonly number[]) => looks.reduce((sum, bytes) => sum + bytes, 0) / looks.length;
  return mean(live.slice(middle)) - mean(live.slice(0, middle));
}

/** Reads a CSV of so many entries; stops reading after each twentieth to look at the memory of the server. */
export async function readCsv(
  { url, token, entries }: { readonly url: string; readonly token: string; readonly entries: number },
  server: { readonly pid: number; readonly file: string },
): Promise<CsvRead> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  const live: number[] = [];
  let lines = 0;
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    for (const byte of chunk) if (byte === 10) lines += 1;
    if (lines > ((live.length + 1) * entries) / LOOKS) {
      const { heap, external } = await liveBytes(server.pid, server.file);
      live.push(heap + external);
    }
  }
  return { entries: lines - 1, bytes, live };
}
