import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, constants, deflateRawSync, gzipSync, zstdCompressSync } from "node:zlib";

const MIB = 1024 * 1024;

/** What is in the answers that are compressed: letters, which no format of answers ends. */
const letters = Buffer.alloc(64 * MIB, "a");

const gigabyte = (compressed: Buffer) => Buffer.concat(Array.from({ length: 16 }, () => compressed));
const gzipped = gigabyte(gzipSync(letters));

/** One stream of deflate, of a gigabyte as well: sixteen pieces, each flushed, and an end. */
function deflated(): Buffer {
  const piece = deflateRawSync(letters, { finishFlush: constants.Z_FULL_FLUSH });
  return Buffer.concat([gigabyte(piece), deflateRawSync("")]);
}

/** A gigabyte of letters in a megabyte of gzip, or 64 MiB in a few hundred bytes, by the name of the encoding. */
const COMPRESSED: Readonly<Record<string, Buffer>> = {
  gzip: gzipped,
  "gzip, gzip": gzipSync(gzipped),
  deflate: deflated(),
  br: brotliCompressSync(letters, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  zstd: zstdCompressSync(letters),
};

type Lie = (response: ServerResponse) => void;

/** Ways to answer with more than a request has asked for; each ends when the one who asked hangs up. */
export const FLOODS: Readonly<Record<string, Lie>> = {
  ...Object.fromEntries(
    Object.entries(COMPRESSED).map(([encoding, body]): [string, Lie] => [
      `a bomb of ${encoding}`,
      (response) => response.setHeader("content-encoding", encoding).end(body),
    ]),
  ),
  "an endless body": (response) => flood(response, letters.subarray(0, 64 * 1024)),
  "an endless body in pieces of 100 bytes": (response) => flood(response, letters.subarray(0, 100)),
};

function flood(response: ServerResponse, piece: Uint8Array): void {
  const more = () => {
    while (!response.destroyed) if (!response.write(piece)) return;
  };
  response.on("drain", more);
  more();
}

/** An org that answers everything the same way. */
export type LyingOrg = Awaited<ReturnType<typeof startLyingOrg>>;

export async function startLyingOrg() {
  let lie: Lie = (response) => response.end();
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => lie(response));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** From now on it answers like this. */
    answer: (next: Lie) => {
      lie = next;
    },
    [Symbol.asyncDispose]: async () => {
      server.close().closeAllConnections();
    },
  };
}
