import { PassThrough, type TransformCallback } from "node:stream";
import { invokeStore } from "./trace-store.ts";

const STREAMING = Symbol.for("aws.lambda.runtime.handler.streaming");
const HTTP_INTEGRATION = "application/vnd.awslambda.http-integration-response";

const UTF_8: ReadonlySet<string> = new Set(["utf8", "utf-8"] satisfies BufferEncoding[]);

type Write = (chunk: string | Uint8Array) => unknown;

/**
 * What a streaming handler writes to. Its first write, even of nothing, sends what is due before. Reading gives each
 * write by itself and texts as texts: as bytes they would be copied three times on their way to the socket, and V8
 * collects all its memory, at once, when such copies come to 64 MB.
 */
export class ResponseStream extends PassThrough {
  contentType = "application/octet-stream";
  _onBeforeFirstWrite: ((write: Write) => void) | undefined;
  readonly #begun: (stream: ResponseStream) => void;
  #hasBegun = false;

  /** `begun` is called once, when the type of the content is settled. */
  constructor(begun: (stream: ResponseStream) => void) {
    super({ decodeStrings: false, readableObjectMode: true, readableHighWaterMark: 1 });
    this.#begun = begun;
  }

  override _transform(chunk: string | Buffer, encoding: BufferEncoding | "buffer", done: TransformCallback): void {
    const isOther = typeof chunk === "string" && encoding !== "buffer" && !UTF_8.has(encoding);
    done(null, isOther ? Buffer.from(chunk, encoding) : chunk);
  }

  setContentType(contentType: string): void {
    if (this.#hasBegun) throw new Error("Cannot set content-type, too late.");
    this.contentType = contentType;
  }

  override write(...given: unknown[]): boolean {
    this.#begin();
    return super.write(...(given as [unknown]));
  }

  override end(...given: unknown[]): this {
    if (given.length > 0 && typeof given[0] !== "function") this.#begin();
    else this.#announce();
    return super.end(...(given as []));
  }

  #begin(): void {
    if (this.#hasBegun) return;
    this.#announce();
    this._onBeforeFirstWrite?.((chunk) => super.write(chunk));
  }

  #announce(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#begun(this);
  }
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
      stream._onBeforeFirstWrite = (write) => {
        write(Buffer.concat([Buffer.from(JSON.stringify(prelude)), new Uint8Array(8)]));
      };
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
