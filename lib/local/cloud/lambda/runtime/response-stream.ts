import { PassThrough } from "node:stream";
import { invokeStore } from "./trace-store.ts";

const STREAMING = Symbol.for("aws.lambda.runtime.handler.streaming");
const HTTP_INTEGRATION = "application/vnd.awslambda.http-integration-response";

/** What a streaming handler writes to. Its first write, even of nothing, sends what is due before. */
export class ResponseStream extends PassThrough {
  contentType = "application/octet-stream";
  _onBeforeFirstWrite: ((write: (chunk: string | Uint8Array) => unknown) => void) | undefined;
  readonly #begun: (stream: ResponseStream) => void;
  #hasBegun = false;

  /** `begun` is called once, when the type of the content is settled. */
  constructor(begun: (stream: ResponseStream) => void) {
    super();
    this.#begun = begun;
  }

  setContentType(contentType: string): void {
    if (this.#hasBegun) throw new Error("Cannot set content-type, too late.");
    this.contentType = contentType;
  }

  override write(...given: readonly unknown[]): boolean {
    const isFirst = !this.#hasBegun;
    this.#announce();
    if (isFirst) this._onBeforeFirstWrite?.((chunk) => super.write(chunk));
    return super.write(...(given as Parameters<PassThrough["write"]>));
  }

  override end(...given: readonly unknown[]): this {
    const [last, encoding] = given.filter((one) => typeof one !== "function");
    if (last !== undefined && last !== null) this.write(last, encoding);
    else this.#announce();
    return super.end(given.find((one) => typeof one === "function") as () => void);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this._read(0); // ends the write that waits for the reader: until then Node calls back none of those behind it
    super._destroy(error, done);
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
      const head = Buffer.concat([Buffer.from(JSON.stringify(prelude)), new Uint8Array(8)]);
      stream._onBeforeFirstWrite = (write) => write(head);
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
