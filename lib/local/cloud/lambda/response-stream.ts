import { Readable } from "node:stream";
import { invokeStore } from "./trace-store.ts";

const STREAMING = Symbol.for("aws.lambda.runtime.handler.streaming");
const HTTP_INTEGRATION = "application/vnd.awslambda.http-integration-response";

const UTF_8: ReadonlySet<string> = new Set(["utf8", "utf-8"] satisfies BufferEncoding[]);

type Write = (chunk: string | Uint8Array) => unknown;
type Told = (error?: Error | null) => void;

/** So many writes are kept for a slow reader before a writer is asked to wait. */
const MOST_WAITING = 4;

/**
 * What a streaming handler writes to. Its first write, even of nothing, sends what is due before. Reading gives each
 * write by itself and texts as texts: as bytes they would be copied three times on their way to the socket, and V8
 * collects all its memory, at once, when such copies come to 64 MB.
 *
 * It is a Readable that is written to, and no Duplex: Node's constructor of what can be written to sets `state.onwrite` to
 * an arrow function, and V8 makes functions that are set as properties in its old generation, from where this one would
 * keep the stream, and all that listens to it, until a collection of everything. To whoever pipes into it, it is a stream
 * of the old kind, by `write`, `end`, "drain" and "finish".
 */
export class ResponseStream extends Readable {
  contentType = "application/octet-stream";
  _onBeforeFirstWrite: ((write: Write) => void) | undefined;
  /** What Node asks of whatever is written to. */
  writableEnded = false;
  writableFinished = false;
  readonly #begun: (stream: ResponseStream) => void;
  #hasBegun = false;
  #isFull = false;

  /** `begun` is called once, when the type of the content is settled. */
  constructor(begun: (stream: ResponseStream) => void) {
    super({ objectMode: true, highWaterMark: MOST_WAITING });
    this.#begun = begun;
  }

  get writable(): boolean {
    return !this.writableEnded && !this.destroyed;
  }

  setContentType(contentType: string): void {
    if (this.#hasBegun) throw new Error("Cannot set content-type, too late.");
    this.contentType = contentType;
  }

  override _read(): void {
    if (!this.#isFull) return;
    this.#isFull = false;
    this.emit("drain");
  }

  /** False asks the writer to wait for "drain". */
  write(chunk: string | Uint8Array, ...rest: readonly unknown[]): boolean {
    this.#begin();
    return this.#take(chunk, ...rest);
  }

  end(...given: readonly unknown[]): this {
    const [last, encoding] = given.filter((one) => !isTold(one));
    if (typeof last === "string" || last instanceof Uint8Array) this.write(last, encoding);
    else this.#announce();
    process.nextTick(finish, this, !this.writable, given.find(isTold));
    if (!this.writable) return this;
    this.writableEnded = true;
    this.push(null);
    return this;
  }

  #take(chunk: string | Uint8Array, ...rest: readonly unknown[]): boolean {
    const [encoding] = rest;
    const told = rest.find(isTold);
    if (told) process.nextTick(told, this.writable ? null : new Error(OVER));
    if (chunk.length === 0) return !this.#isFull;
    const isOther = typeof chunk === "string" && typeof encoding === "string" && !UTF_8.has(encoding);
    const hasRoom = this.push(isOther ? Buffer.from(chunk, encoding as BufferEncoding) : chunk);
    this.#isFull ||= !hasRoom;
    return hasRoom;
  }

  #begin(): void {
    if (this.#hasBegun) return;
    this.#announce();
    this._onBeforeFirstWrite?.((chunk) => this.#take(chunk));
  }

  #announce(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#begun(this);
  }
}

const OVER = "the stream was ended or destroyed before";

const isTold = (given: unknown): given is Told => typeof given === "function";

/** Tells that all was written, unless that was so before or the reader is gone. */
function finish(stream: ResponseStream, wasOver: boolean, told: Told | undefined): void {
  const isOver = wasOver || stream.destroyed;
  stream.writableFinished ||= !isOver;
  told?.(isOver ? new Error(OVER) : null);
  if (!isOver) stream.emit("finish");
}

type Handler = (...given: unknown[]) => unknown;

/** The global `awslambda` of the Node.js runtime, as far as functions and their SDK use it. */
const awslambda = {
  InvokeStore: invokeStore,
  streamifyResponse<Streaming extends Handler>(handler: Streaming): Streaming {
    return Object.assign(handler, { [STREAMING]: "response" });
  },
  HttpResponseStream: {
    /** Sends status and headers as JSON and eight zero bytes before the first write. */
    from(stream: ResponseStream, prelude: Readonly<Record<string, unknown>>): ResponseStream {
      stream.setContentType(HTTP_INTEGRATION);
      const head: (write: Write) => void = (write) =>
        write(Buffer.concat([Buffer.from(JSON.stringify(prelude)), new Uint8Array(8)]));
      stream._onBeforeFirstWrite = head; // set as it is made, it would be made in V8's old generation
      return stream;
    },
  },
};

/** Puts `awslambda` where functions look for it: must come before their modules are loaded. */
export function provideRuntime(): void {
  Object.assign(globalThis, { awslambda });
}

/** A handler made by `awslambda.streamifyResponse`. */
export const isStreaming = (handler: unknown): boolean =>
  typeof handler === "function" && Reflect.get(handler, STREAMING) === "response";
