import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import * as z from "zod/mini";
import type { Failed, Invocation, Outcome } from "../invocation.ts";
import type { LambdaFunction } from "../template/functions.ts";

/** The Lambda Runtime API of one environment (version 2018-06-01): it asks for events and posts their results. */
export interface RuntimeApi {
  /** `127.0.0.1:<port>`, for AWS_LAMBDA_RUNTIME_API. */
  readonly address: string;
  /** Hands over one event; `done` resolves when the answer is whole. */
  hand(
    invocation: Invocation,
    target: LambdaFunction,
  ): { readonly outcome: Promise<Outcome>; readonly done: Promise<void> };
  /** Ends what is under way, and everything handed over later, with a failure. */
  fail(failure: Failed): void;
  close(): Promise<void>;
}

interface Handed {
  readonly invocation: Invocation;
  readonly target: LambdaFunction;
  readonly outcome: PromiseWithResolvers<Outcome>;
  readonly done: PromiseWithResolvers<void>;
  stream?: PassThrough;
}

const VERSION = "/2018-06-01/runtime";
const RESPONSE_MODE = "lambda-runtime-function-response-mode";

const postedError = z.object({
  errorType: z.optional(z.string()),
  errorMessage: z.optional(z.string()),
  stackTrace: z.optional(z.array(z.string())),
});

/** Serves the API on a port of its own, which identifies the environment. */
export async function serveRuntimeApi(): Promise<RuntimeApi> {
  let current: Handed | undefined;
  let asking: ServerResponse | undefined;
  let failure: Failed | undefined;

  const give = () => {
    if (!current || !asking) return;
    const { invocation, target } = current;
    const body = Buffer.from(JSON.stringify(invocation.event));
    asking.writeHead(200, {
      "content-type": "application/json",
      "content-length": body.length,
      "lambda-runtime-aws-request-id": invocation.requestId,
      "lambda-runtime-deadline-ms": invocation.deadline,
      "lambda-runtime-trace-id": invocation.traceHeader,
      "lambda-runtime-invoked-function-arn": target.arn,
    });
    asking.end(body);
    asking = undefined;
  };
  const settle = (handed: Handed, outcome: Outcome) => {
    handed.outcome.resolve(outcome);
    if (outcome.kind === "failed") handed.stream?.destroy(new Error(outcome.message));
    handed.done.resolve();
    if (current === handed) current = undefined;
  };
  const fail = (failed: Failed) => {
    failure = failed;
    if (current) settle(current, failed);
  };
  const take = async (handed: Handed, request: IncomingMessage) => {
    if (request.headers[RESPONSE_MODE] !== "streaming") {
      settle(handed, { kind: "answered", payload: await text(request) });
      return;
    }
    const contentType = String(request.headers["content-type"] ?? "application/octet-stream");
    const stream = new PassThrough();
    handed.stream = stream;
    handed.outcome.resolve({ kind: "streaming", contentType, stream });
    for await (const chunk of request as AsyncIterable<Buffer>) {
      if (!stream.write(chunk) && !stream.destroyed) await drained(stream);
    }
    const trailer = request.trailers["lambda-runtime-function-error-body"];
    if (trailer === undefined) stream.end();
    else stream.destroy(new Error(failedFrom(Buffer.from(String(trailer), "base64").toString("utf8")).message));
    handed.done.resolve();
    if (current === handed) current = undefined;
  };

  const server = createServer(async (request, response) => {
    const [, requestId, action] = /^\/invocation\/([^/]+)\/(response|error)$/.exec(pathOf(request)) ?? [];
    if (pathOf(request) === "/invocation/next") {
      asking = response;
      give();
      return;
    }
    try {
      if (pathOf(request) === "/init/error") fail(failedFrom(await text(request)));
      else if (!current || current.invocation.requestId !== requestId)
        throw new Error(`no event ${requestId} is at work`);
      else if (action === "error") settle(current, failedFrom(await text(request)));
      else await take(current, request);
      response.writeHead(202).end("{}");
    } catch (error) {
      request.resume();
      response.writeHead(400).end(JSON.stringify({ errorMessage: (error as Error).message }));
    }
  });
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    hand(invocation, target) {
      const handed: Handed = { invocation, target, outcome: Promise.withResolvers(), done: Promise.withResolvers() };
      current = handed;
      if (failure) settle(handed, failure);
      else give();
      return { outcome: handed.outcome.promise, done: handed.done.promise };
    },
    fail,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const pathOf = ({ url = "" }: IncomingMessage): string => (url.startsWith(VERSION) ? url.slice(VERSION.length) : url);

function failedFrom(body: string): Failed {
  const { errorType = "Error", errorMessage = "", stackTrace = [] } = postedError.parse(JSON.parse(body));
  return { kind: "failed", errorType, message: errorMessage, trace: stackTrace };
}

function drained(stream: PassThrough): Promise<void> {
  return new Promise((resolve) => {
    stream.once("drain", resolve).once("close", resolve);
  });
}
