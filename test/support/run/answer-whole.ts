import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";

interface Prelude {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
}

type Stream = PassThrough & { prelude?: Prelude };

type Streaming = (event: unknown, stream: Stream, context: unknown) => Promise<void>;

// Replaces what Lambda's runtime gives to functions that stream, before any module of a test file is loaded: they ask for
// it then, and processes run many files. Their answers come whole, like the others'.
Reflect.set(globalThis, "awslambda", {
  streamifyResponse: (handler: Streaming) => async (event: unknown, context: unknown) => {
    const stream: Stream = new PassThrough();
    const [body] = await Promise.all([text(stream), handler(event, stream, context)]);
    return { ...stream.prelude, body };
  },
  HttpResponseStream: {
    from: (stream: Stream, prelude: Prelude) => Object.assign(stream, { prelude }),
  },
});
