import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { type Failed, failureOf, type Outcome } from "../invocation.ts";
import { contextOf } from "./context.ts";
import { callHandler, type Handler, loadHandler } from "./handler.ts";
import { provideRuntime } from "./response-stream.ts";
import { withTrace } from "./trace-store.ts";

/**
 * The program of an isolated function: Lambda's Node.js runtime, as far as functions can see. It loads the handler,
 * then asks the Runtime API for one event after the other. It ends with its host, whose answers then stop.
 */
const { env } = process;
const BASE = `http://${env["AWS_LAMBDA_RUNTIME_API"]}/2018-06-01/runtime`;

const handler = await initialised();
for (;;) await next(handler);

async function initialised(): Promise<Handler> {
  provideRuntime();
  try {
    return await loadHandler(env["LAMBDA_TASK_ROOT"] ?? "", env["_HANDLER"] ?? "");
  } catch (thrown) {
    await post("/init/error", errorBody(failureOf(thrown)));
    process.exit(1);
  }
}

async function next(handler: Handler): Promise<void> {
  const { headers, body } = await call("GET", "/invocation/next");
  const requestId = String(headers["lambda-runtime-aws-request-id"]);
  const context = contextOf(
    {
      name: env["AWS_LAMBDA_FUNCTION_NAME"] ?? "",
      arn: String(headers["lambda-runtime-invoked-function-arn"]),
      memoryMegabytes: Number(env["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"]),
      logGroup: env["AWS_LAMBDA_LOG_GROUP_NAME"] ?? "",
    },
    { requestId, deadline: Number(headers["lambda-runtime-deadline-ms"]) },
    Date.now,
  );
  const traceHeader = String(headers["lambda-runtime-trace-id"]);
  env["_X_AMZN_TRACE_ID"] = traceHeader;
  const outcome = await withTrace(traceHeader, () => callHandler(handler, JSON.parse(body), context));
  await answer(`/invocation/${requestId}`, outcome);
}

async function answer(path: string, outcome: Outcome): Promise<void> {
  if (outcome.kind === "failed") await post(`${path}/error`, errorBody(outcome));
  else if (outcome.kind === "answered") await post(`${path}/response`, outcome.payload);
  else await stream(`${path}/response`, outcome);
}

async function post(path: string, body: string): Promise<void> {
  await call("POST", path, body);
}

/** One call of the Runtime API, however long it takes; without a host there is nothing left to do. */
function call(method: string, path: string, body = ""): Promise<{ headers: IncomingMessage["headers"]; body: string }> {
  return new Promise((resolve) => {
    const calling = request(`${BASE}${path}`, { method }, async (response) => {
      resolve({ headers: response.headers, body: await text(response) });
    });
    calling.on("error", () => process.exit(0));
    calling.end(body);
  });
}

/** Posts a stream as it comes; when it breaks off, the reason follows in a trailer, as Lambda's own runtime does it. */
function stream(path: string, { contentType, stream: body }: Extract<Outcome, { kind: "streaming" }>): Promise<void> {
  return new Promise((resolve) => {
    const posting = request(`${BASE}${path}`, {
      method: "POST",
      headers: {
        "content-type": contentType,
        "lambda-runtime-function-response-mode": "streaming",
        "transfer-encoding": "chunked",
        trailer: "Lambda-Runtime-Function-Error-Type, Lambda-Runtime-Function-Error-Body",
      },
    });
    posting.on("response", (response) => response.resume().on("end", resolve));
    posting.on("error", () => process.exit(0));
    pipeline(body, posting, { end: false }).then(
      () => posting.end(),
      (thrown: unknown) => {
        const failed = failureOf(thrown);
        posting.addTrailers({
          "Lambda-Runtime-Function-Error-Type": failed.errorType,
          "Lambda-Runtime-Function-Error-Body": Buffer.from(errorBody(failed)).toString("base64"),
        });
        posting.end();
      },
    );
  });
}

function errorBody({ errorType, message, trace }: Failed): string {
  return JSON.stringify({ errorType, errorMessage: message, stackTrace: trace });
}
