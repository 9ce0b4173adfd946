import type { Client } from "pg";
import { ProtocolViolation, violation } from "./protocol-violation.ts";

type Take = (bytes: Buffer) => void;

declare module "pg" {
  interface Connection {
    /** Called once, with the stream that the driver reads: the socket's or, with TLS, that of TLS. */
    attachListeners(stream: { on(event: string, listener: Take): unknown }): void;
  }
}

/**
 * Has the driver read each message alone, once it is whole and keeps the protocol: it believes every number that it
 * reads, and what it throws while it reads would end the process. Both become the connection's error.
 */
export function checkFrames({ connection }: Client): void {
  const attach = connection.attachListeners.bind(connection);
  const checked = (read: Take): Take => {
    const take = frameCheck(read);
    return (chunk) => {
      try {
        take(chunk);
      } catch (error) {
        const isKnown = error instanceof ProtocolViolation;
        connection.stream.destroy(isKnown ? error : violation("a message that cannot be read", error));
      }
    };
  };
  connection.attachListeners = (stream) =>
    attach({ on: (event, listener) => stream.on(event, event === "data" ? checked(listener) : listener) });
}

/** Whether a message's body has what it announces, and nothing else; reading beyond it throws. */
type Fits = (body: Buffer) => boolean;

const afterText = (body: Buffer, at: number): number => body.indexOf(0, at) + 1 || Number.POSITIVE_INFINITY;
const bytes =
  (many: number): Fits =>
  (body) =>
    body.length === many;
const texts =
  (many: number, at = 0): Fits =>
  (body) =>
    Array.from({ length: many }).reduce<number>((next) => afterText(body, next), at) === body.length;
const numbers =
  (width: number, at = 0): Fits =>
  (body) =>
    body.length === at + 2 + body.readUInt16BE(at) * width;
const fields: Fits = (body) => {
  let next = 0;
  for (let left = MOST_FIELDS; left > 0 && body[next] !== 0; left--) next = afterText(body, next);
  return next === body.length - 1 && body[next] === 0;
};
const columns: Fits = (body) => {
  let next = 2;
  for (let left = body.readUInt16BE(0); left > 0 && next <= body.length; left--) next = afterText(body, next) + 18;
  return next === body.length;
};
const values: Fits = (body) => {
  let next = 2;
  for (let left = body.readUInt16BE(0); left > 0; left--) {
    const length = body.readInt32BE(next); // -1: null
    if (length < -1) return false;
    next += 4 + Math.max(length, 0);
  }
  return next === body.length;
};

/** What a server may send, by a message's first byte (PostgreSQL documentation, "Message Formats"). */
const FITS: Readonly<Record<string, Fits>> = {
  ...{ 1: bytes(0), 2: bytes(0), 3: bytes(0), I: bytes(0), c: bytes(0), n: bytes(0), s: bytes(0) },
  ...{ A: texts(2, 4), C: texts(1), D: values, E: fields, G: numbers(2, 1), H: numbers(2, 1), K: bytes(8) },
  ...{ N: fields, R: (body) => body.length >= 4, S: texts(2), T: columns, d: () => true, t: numbers(4) },
  Z: (body) => /^[ITE]$/.test(String(body)),
};
/** The steps of a sign-in that the driver has, by the step before. */
const STEPS: Readonly<Record<number, readonly number[]>> = {
  ...{ [-1]: [0, 3, 5, 10], 3: [0], 5: [0], 10: [11], 11: [12, 0], 12: [0] },
};
const OTHER_SIGN_INS: Readonly<Record<number, string>> = { 2: "Kerberos", 6: "SCM", 7: "GSSAPI", 9: "SSPI" };

/** A message's first byte, and its length without it. */
const HEADER_BYTES = 5;
const MOST_BYTES = 1_000_000;
/** Of rows, and of errors and notices, which repeat a value. */
const MOST_VALUE_BYTES = 128_000_000;
/** Of memory, for all messages until the server is ready for the next statement; the driver makes more of each. */
const MOST_ANSWER_BYTES = 256_000_000;
const MESSAGE_COSTS_BYTES = 300;
const COLUMN_COSTS_BYTES = 200;
/** PostgreSQL has 1,664 columns and 18 fields at most; each is a loop of the driver's. */
const MOST_COLUMNS = 1664;
const MOST_FIELDS = 64;

/** Takes a stream's bytes and gives on each message that keeps the protocol. Only one of several chunks is copied. */
export function frameCheck(give: Take): Take {
  let begun: Buffer | null = null;
  let filled = 0;
  let answerBytes = 0;
  let columnsNow = 0;
  let step = -1;

  const sizeAt = (from: Buffer, at: number): number => {
    const type = String.fromCharCode(from[at] ?? 0);
    const length = from.readUInt32BE(at + 1);
    if (!FITS[type]) throw violation(`a message of the unknown type ${from[at]}`);
    if (length < 4 || length > ("DEN".includes(type) ? MOST_VALUE_BYTES : MOST_BYTES))
      throw violation(`a message ${type} of ${length} bytes`);
    return 1 + length;
  };
  const deliver = (message: Buffer) => {
    const type = String.fromCharCode(message[0] ?? 0);
    const body = message.subarray(HEADER_BYTES);
    if (!FITS[type]?.(body)) throw violation(`a message ${type} that does not have what it announces`);
    if (type === "R") takeStep(body.readInt32BE(0));
    if (type === "E" && !/(^|\0)C[0-9A-Z]{5}\0/.test(body.toString("latin1")))
      throw violation("an error without a code");
    const many = type === "T" || type === "D" ? body.readUInt16BE(0) : 0;
    if (many > MOST_COLUMNS || (type === "D" && many !== columnsNow))
      throw violation(`a message ${type} of ${many} columns`);
    if (type === "T") columnsNow = many;
    answerBytes = type === "Z" ? 0 : answerBytes + message.length + MESSAGE_COSTS_BYTES + many * COLUMN_COSTS_BYTES;
    if (answerBytes > MOST_ANSWER_BYTES) throw violation("an answer without an end");
    give(message);
  };
  /** A step is work: for each of SASL's, a server may ask for 100,000 rounds of a hash. */
  const takeStep = (next: number) => {
    const isKnown = STEPS[next] !== undefined || next === 0;
    const way = OTHER_SIGN_INS[next] ?? `the unknown method ${next}`;
    if (!isKnown) throw new ProtocolViolation(`the server wants a sign-in by ${way}; use scram-sha-256 in pg_hba.conf`);
    if (!STEPS[step]?.includes(next)) throw violation("a sign-in out of turn");
    step = next;
  };

  return (chunk) => {
    for (let at = 0; at < chunk.length; ) {
      if (begun === null) {
        const size = chunk.length - at < HEADER_BYTES ? HEADER_BYTES : sizeAt(chunk, at);
        if (at + size <= chunk.length) {
          deliver(chunk.subarray(at, at + size));
          at += size;
          continue;
        }
        begun = Buffer.allocUnsafe(size); // memory that nothing was written to yet is none
        filled = 0;
      }
      const copied = chunk.copy(begun, filled, at);
      at += copied;
      filled += copied;
      if (filled < begun.length) return;
      const had = begun;
      const size = sizeAt(had, 0);
      begun = size > filled ? Buffer.allocUnsafe(size) : null;
      if (begun) had.copy(begun);
      else deliver(had);
    }
  };
}
