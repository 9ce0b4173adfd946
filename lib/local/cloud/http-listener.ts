import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { AwsError } from "./aws-error.ts";
import { checkSignature } from "./check-signature.ts";
import { callAction, type JsonService } from "./json-service.ts";
import type { RestService } from "./rest-service.ts";

/** The services behind one address, and how it is reached. */
export interface ListenerSettings {
  readonly port: number;
  readonly region: string;
  /** The only one that is let in. */
  readonly accessKeyId: string;
  readonly jsonServices: readonly JsonService[];
  readonly restServices: readonly RestService[];
  /** Receives unexpected errors, before the caller gets a 500. */
  readonly onFault: (fault: unknown) => void;
}

const MAXIMUM_REQUEST_BYTES = 16 * 1_048_576;

/** Listens on 127.0.0.1 and hands each request to the service that its target or its path names. */
export async function listen(settings: ListenerSettings): Promise<{ port: number; close(): Promise<void> }> {
  const server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
    void answer(settings, request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(settings.port, "127.0.0.1", resolve);
  });
  return { port: (server.address() as AddressInfo).port, close: () => close(server) };
}

/** Lets answers that are being written end, and cuts idle connections. */
function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    setImmediate(() => server.closeAllConnections());
  });
}

async function answer(settings: ListenerSettings, request: IncomingMessage, response: ServerResponse): Promise<void> {
  // In Node 24 a request closes once its body is read: only the response shows that the caller has gone.
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  try {
    const body = await bodyOf(request);
    const [prefix, action] = String(request.headers["x-amz-target"] ?? "").split(".");
    if (action !== undefined) {
      const service = settings.jsonServices.find(({ targetPrefix }) => targetPrefix === prefix);
      if (!service) throw unknown(`X-Amz-Target ${prefix}`);
      checkSignature(request, settings, service.signingName);
      const traceHeader = request.headers["x-amzn-trace-id"]?.toString();
      const answered = await callAction(service, action, json(body), gone.signal, traceHeader);
      reply(request, response, 200, answered ?? {});
    } else {
      const url = new URL(request.url ?? "/", "http://localhost");
      const service = settings.restServices.find(({ answers }) => answers(url.pathname));
      if (!service) throw unknown(`${request.method} ${url.pathname}`);
      checkSignature(request, settings, service.signingName);
      reply(request, response, 200, service.call(request.method ?? "", url, body === "" ? {} : json(body)));
    }
  } catch (error) {
    if (!(error instanceof AwsError)) settings.onFault(error);
    refuse(request, response, error instanceof AwsError ? error : fault(error));
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAXIMUM_REQUEST_BYTES) {
      throw new AwsError("RequestEntityTooLargeException", "The request is too large.", { status: 413 });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function json(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new AwsError("SerializationException", "The body of the request is not JSON.");
  }
}

function refuse(request: IncomingMessage, response: ServerResponse, error: AwsError): void {
  response.setHeader("x-amzn-query-error", `${error.queryCode};${error.status < 500 ? "Sender" : "Receiver"}`);
  response.setHeader("x-amzn-errortype", error.name);
  reply(request, response, error.status, { __type: error.name, message: error.message, Message: error.message });
}

function reply(request: IncomingMessage, response: ServerResponse, status: number, body: unknown): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, {
    "content-type": request.headers["content-type"] ?? "application/json",
    "content-length": bytes.length,
    "x-amzn-requestid": randomUUID(),
  });
  response.end(bytes);
}

function unknown(what: string): AwsError {
  return new AwsError("UnknownOperationException", `${what} is not part of the embedded cloud.`, { status: 404 });
}

function fault(cause: unknown): AwsError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new AwsError("InternalFailure", `The embedded cloud failed: ${message}`, { status: 500 });
}
