import { connect, type Socket } from "node:net";

/**
 * One client on a connection of its own, which sends its next request when the last one is answered. It knows just
 * enough of HTTP to see an answer's end, so that measuring takes little of the machine that is measured.
 */
export class Caller {
  readonly #socket: Socket;
  readonly #head: string;
  #received: Buffer[] = [];
  #bytes = 0;
  #answered: PromiseWithResolvers<void> | null = null;

  constructor(base: URL, token: string) {
    this.#head = ` HTTP/1.1\r\nHost: ${base.host}\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    this.#socket = connect(Number(base.port), base.hostname).setNoDelay(true);
    this.#socket.on("data", (chunk) => this.#take(chunk));
    this.#socket.on("error", (error) => this.#answered?.reject(error));
  }

  /** Milliseconds until the answer was there in full; rejects unless it is 200. */
  async get(path: string): Promise<number> {
    const began = performance.now();
    this.#received = [];
    this.#bytes = 0;
    this.#answered = Promise.withResolvers();
    this.#socket.write(`GET ${path}${this.#head}`);
    await this.#answered.promise;
    const status = Buffer.concat(this.#received).toString("latin1", 9, 12);
    if (status !== "200") throw new Error(`${path} answered ${status}`);
    return performance.now() - began;
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#received.push(chunk);
    this.#bytes += chunk.length;
    if (this.#isWhole()) this.#answered?.resolve();
  }

  #isWhole(): boolean {
    const head = (this.#received[0] ?? Buffer.alloc(0)).toString("latin1", 0, 2048);
    const end = head.indexOf("\r\n\r\n");
    if (end < 0) return false;
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
    if (length !== undefined) return this.#bytes >= end + 4 + Number(length);
    return Buffer.concat(this.#received).subarray(-5).toString("latin1") === "0\r\n\r\n";
  }
}
