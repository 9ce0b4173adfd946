import { connect, type Socket } from "node:net";

/** As much as one read of a connection gives. */
const READ_BYTES = 64 * 1024;

const END_OF_HEAD = "\r\n\r\n";
const END_OF_CHUNKS = "0\r\n\r\n";

/** How long an answer took, and what was asked for it (`call-probe.ts`). */
export interface Answered {
  readonly milliseconds: number;
  readonly dynamodb: number;
  readonly sql: number;
}

/**
 * One client on a connection of its own, which sends its next request when the last one is answered. It knows just
 * enough of HTTP to see an answer's end and keeps nothing of its body, so that measuring takes little of the machine
 * that is measured.
 */
export class Caller {
  readonly #socket: Socket;
  readonly #request: string;
  #head = "";
  /** Bytes of the body that are still to come; null before the head is there, NaN when it does not say. */
  #left: number | null = null;
  /** The last bytes that came. */
  #tail = "";
  #answered: PromiseWithResolvers<void> | null = null;

  constructor(base: URL, token: string) {
    this.#request = ` HTTP/1.1\r\nHost: ${base.host}\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    const buffer = Buffer.alloc(READ_BYTES);
    const callback = (length: number) => {
      this.#take(buffer.subarray(0, length));
      return true;
    };
    const address = { port: Number(base.port), host: base.hostname };
    this.#socket = connect({ ...address, onread: { buffer, callback } }).setNoDelay(true);
    this.#socket.on("error", (error) => this.#answered?.reject(error));
  }

  /** Resolves when the answer is there in full; rejects unless it is 200. */
  async get(path: string): Promise<Answered> {
    const began = performance.now();
    this.#head = "";
    this.#left = null;
    this.#tail = "";
    this.#answered = Promise.withResolvers();
    this.#socket.write(`GET ${path}${this.#request}`);
    await this.#answered.promise;
    const took = performance.now() - began;
    const status = this.#head.slice(9, 12);
    if (status !== "200") throw new Error(`${path} answered ${status}`);
    const [, dynamodb, sql] = /\r\nx-bench-calls: (\d+) (\d+)/i.exec(this.#head) ?? [];
    return { milliseconds: took, dynamodb: Number(dynamodb), sql: Number(sql) };
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(bytes: Buffer): void {
    const body = this.#left === null ? this.#takeHead(bytes) : bytes;
    this.#left = (this.#left ?? 0) - body.length;
    const end = body.toString("latin1", Math.max(0, body.length - END_OF_CHUNKS.length));
    this.#tail = (this.#tail + end).slice(-END_OF_CHUNKS.length);
    const isWhole = Number.isNaN(this.#left) ? this.#tail === END_OF_CHUNKS : this.#left <= 0;
    if (isWhole) this.#answered?.resolve();
  }

  /** Reads the head, which comes with the first bytes, and gives what of the body comes with it. */
  #takeHead(bytes: Buffer): Buffer {
    const length = bytes.indexOf(END_OF_HEAD) + END_OF_HEAD.length;
    if (length < END_OF_HEAD.length) this.#answered?.reject(new Error("an answer's head came in pieces"));
    this.#head = bytes.toString("latin1", 0, length);
    this.#left = Number(/\r\ncontent-length: (\d+)/i.exec(this.#head)?.[1]);
    return bytes.subarray(length);
  }
}
