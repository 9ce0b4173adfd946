import { Readable } from "node:stream";
import { invokeStore } from "./trace-store.ts";

const STREAMING = Symbol.for("aws.lambda.runtime.handler.streaming");
const HTTP_INTEGRATION = "application/vnd.awslambda.http-integration-response";

const UTF_8: ReadonlySet<string> = new Set(["utf8", "utf-8"] satisfies BufferEncoding[]);

type Write = (chunk: string | Uint8Array) => unknown;
type Callback = (error?: Error | null) => void;

/** With so many writes unread, a writer is asked to wait. */
const MOST_UNREAD = 4;

const OVER = "the stream was ended or destroyed before";

/**
 * What a streaming handler writes to. Its first write, even of nothing, sends what is due before. Reading gives each
 * write separately and texts as texts: as bytes they would be copied three times on their way to the socket, and V8
 * collects all its memory, at once, when such copies come to 64 MB.
 *
 * It is a Readable that is written to, and no Duplex: Node's constructor of what can be written to sets `state.onwrite`
 * to an arrow function, and V8 makes functions that are set as properties in its old generation, from where this one
 * would keep the stream, and all that listens to it, until a collection of everything. To a pipe it is a stream of the
 * old kind, which has `write`, `end`, "drain" and "finish" and no state. It has finished when all is written, read or
 * not: the caller of a function waits for the reader's end.
 */
export class ResponseStream extends Readable {
  contentType = "application/octet-stream";
  _onBeforeFirstWrite: ((write: Write) => void) | undefined;
  writableEnded = false;
  writableFinished = false;
  readonly #begun: (stream: ResponseStream) => void;
  #hasBegun = false;
  #isFull = false;
  /** Those whose write ends when there is room again. */
  #waiting: Callback[] = [];

  /** `begun` is called once, when the type of the content is settled. */
  constructor(begun: (stream: ResponseStream) => void) {
    super({ objectMode: true, highWaterMark: MOST_UNREAD });
    this.#begun = begun;
  }

  /** Also of one that was destroyed, or Node would take its end for one that was meant, and pipe on into nothing. */
  get writable(): boolean {
    return !this.writableEnded;
  }

  get #isOver(): boolean {
    return this.writableEnded || this.destroyed;
  }

  setContentType(contentType: string): void {
    if (this.#hasBegun) throw new Error("Cannot set content-type, too late.");
    this.contentType = contentType;
  }

  override _read(): void {
    if (!this.#isFull) return;
    this.#isFull = false;
    this.#callBack(null);
    this.emit("drain");
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    // An error without a listener would cost each answer 40 µs for its stack.
    if (this.#waiting.length > 0) this.#callBack(error ?? new Error(OVER));
    done(error);
  }

  /** False asks the writer to wait for "drain". Throws for what is neither text nor bytes. */
  write(chunk: string | Uint8Array, ...rest: readonly unknown[]): boolean {
    this.#begin();
    return this.#take(chunk, ...rest);
  }

  end(...given: readonly unknown[]): this {
    const [last, encoding] = given.filter((one) => !isCallback(one));
    if (last !== undefined && last !== null) this.write(last as string, encoding);
    else this.#announce();
    process.nextTick(finish, this, this.#isOver, given.find(isCallback));
    if (this.#isOver) return this;
    this.writableEnded = true;
    this.push(null);
    return this;
  }

  #take(chunk: string | Uint8Array, ...rest: readonly unknown[]): boolean {
    if (typeof chunk !== "string" && !(chunk instanceof Uint8Array)) {
      throw new TypeError(`only text and bytes can be written, not ${chunk === null ? "null" : typeof chunk}`);
    }
    const callback = rest.find(isCallback);
    if (this.#isOver) {
      if (callback) process.nextTick(callback, new Error(OVER));
      if (!this.destroyed) this.destroy(new Error("something was written after the end"));
      return false;
    }
    if (chunk.length > 0) this.#isFull = !this.push(encoded(chunk, rest[0])) || this.#isFull;
    if (callback) this.#waiting.push(callback);
    if (!this.#isFull) this.#callBack(null);
    return !this.#isFull;
  }

  #callBack(error: Error | null): void {
    for (const callback of this.#waiting.splice(0)) process.nextTick(callback, error);
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

const isCallback = (given: unknown): given is Callback => typeof given === "function";

function encoded(chunk: string | Uint8Array, encoding: unknown): string | Uint8Array {
  const isOther = typeof chunk === "string" && typeof encoding === "string" && !UTF_8.has(encoding);
  return isOther ? Buffer.from(chunk, encoding as BufferEncoding) : chunk;
}

/** Ends the writes when all was written, or with an error when it was over before that. */
function finish(stream: ResponseStream, wasOver: boolean, callback: Callback | undefined): void {
  const isOver = wasOver || stream.destroyed;
  stream.writableFinished ||= !isOver;
  callback?.(isOver ? new Error(OVER) : null);
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
      stream._onBeforeFirstWrite = head; // set at its creation, it would be in V8's old generation
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
