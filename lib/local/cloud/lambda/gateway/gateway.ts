import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../../clock.ts";
import { MAXIMUM_PAYLOAD_BYTES, type Outcome } from "../invocation.ts";
import type { Invoker } from "../invoker.ts";
import type { Log } from "../log.ts";
import type { LambdaFunction } from "../template/functions.ts";
import { type HttpRequest, headerOf, readRequest, TooLarge } from "./http-request.ts";
import { createMatcher, type RouteMatch } from "./match-route.ts";
import { answerOf, type HttpAnswer, streamedAnswer } from "./proxy-answer.ts";
import { isBinaryType, newRequestId, proxyEvent } from "./proxy-event.ts";
import { refusalOf } from "./refusal.ts";
import type { RestApi } from "./rest-routes.ts";
import { IDLE_MILLISECONDS } from "./servers.ts";
import { writeAnswer } from "./write-answer.ts";

/** API Gateway's limit of a request. */
const MAXIMUM_REQUEST_BYTES = 10 * 1024 * 1024;

interface GatewaySettings {
  readonly api: RestApi;
  readonly accountId: string;
  readonly functions: readonly LambdaFunction[];
  readonly invoker: Invoker;
  /** Counts the time of integrations. */
  readonly clock: Clock;
  readonly log: Log;
}

/** The REST API over HTTP, without the stage in its paths: what `https://…/dev` is on AWS is `http://host:port` here. */
export function createGateway(settings: GatewaySettings): Server {
  const { api, log } = settings;
  const match = createMatcher(api.methods);
  // A request without Host is refused below, for Node's own answer has no envelope.
  const server = createServer(
    { requireHostHeader: false, keepAliveTimeout: IDLE_MILLISECONDS },
    (incoming, response) => {
      answer(settings, match, incoming)
        .then((made) => writeAnswer(response, made))
        .catch((fault: Error) => broken(incoming, response, fault));
    },
  );
  const broken = (incoming: IncomingMessage, response: ServerResponse, fault: Error) => {
    const isGone = !incoming.complete; // the client went away in the middle of its request
    if (!isGone)
      log({ level: "error", event: "gateway fault", message: fault.message, trace: fault.stack?.split("\n") });
    response.destroy();
  };
  server.on("clientError", (_, socket) => refuseUnreadable(api, socket as Socket));
  return server;
}

async function answer(
  settings: GatewaySettings,
  match: ReturnType<typeof createMatcher>,
  incoming: IncomingMessage,
): Promise<HttpAnswer> {
  const requestId = newRequestId();
  const refuse = (type: string) => withRequestId(refusalOf(settings.api, type, requestId), requestId);
  if (!hasOneHost(incoming)) return refuse("BAD_REQUEST_PARAMETERS");
  let request: HttpRequest;
  try {
    request = await readRequest(incoming, MAXIMUM_REQUEST_BYTES);
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error;
    incoming.resume();
    return refuse("REQUEST_TOO_LARGE");
  }
  const found = match(request.method, request.path);
  if (!found) return refuse("MISSING_AUTHENTICATION_TOKEN");
  const made = await integrate(settings, request, found, requestId);
  return typeof made === "string" ? refuse(made) : withRequestId(remapped(made), requestId);
}

/** API Gateway keeps this name for itself, so that the header of a function reaches the client under another. */
function remapped(made: HttpAnswer): HttpAnswer {
  const nameOf = (name: string) => (/^www-authenticate$/i.test(name) ? `x-amzn-Remapped-${name}` : name);
  return { ...made, headers: made.headers.map(([name, value]) => [nameOf(name), value]) };
}

/** RFC 9112, 3.2: a request of HTTP/1.1 without Host, or with two of them, is answered 400. */
function hasOneHost({ httpVersion, rawHeaders }: IncomingMessage): boolean {
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host").length;
  return hosts === 1 || (hosts === 0 && httpVersion !== "1.1");
}

/** Invokes the function behind a method: its answer, or the type of the gateway's own. */
async function integrate(
  settings: GatewaySettings,
  request: HttpRequest,
  found: RouteMatch,
  requestId: string,
): Promise<HttpAnswer | string> {
  const { api, accountId, functions, invoker, clock, log } = settings;
  const target = functions.find(({ arn }) => arn === found.method.functionArn);
  if (!target) return "API_CONFIGURATION_ERROR";
  const event = proxyEvent(request, found, { api, accountId, requestId, at: clock.now() });
  if (isTooLarge(event, request)) return "REQUEST_TOO_LARGE";
  const outcome = await withinTime(clock, found.method.timeoutMilliseconds, invoker.invoke(target, event));
  if (outcome === undefined) {
    log({
      level: "error",
      event: "integration timed out",
      function: target.name,
      request_id: requestId,
      message: request.path,
    });
    return "INTEGRATION_TIMEOUT";
  }
  try {
    return await answerTo(outcome, found, isBinaryType(headerOf(request, "accept")?.split(",")[0], api));
  } catch (error) {
    log({
      level: "error",
      event: "malformed proxy response",
      function: target.name,
      request_id: requestId,
      message: (error as Error).message,
    });
    return "DEFAULT_5XX";
  }
}

/** Headers are short, and written as JSON a byte of the body is at most six. */
const isTooLarge = (event: object, { body }: HttpRequest): boolean =>
  body.length > MAXIMUM_PAYLOAD_BYTES / 8 && Buffer.byteLength(JSON.stringify(event)) > MAXIMUM_PAYLOAD_BYTES;

async function answerTo(outcome: Outcome, { method }: RouteMatch, acceptsBytes: boolean): Promise<HttpAnswer | string> {
  if (outcome.kind === "failed") return "DEFAULT_5XX";
  if (outcome.kind === "streaming" && method.streams) return streamedAnswer(outcome.stream);
  if (outcome.kind === "answered" && !method.streams) return answerOf(outcome, acceptsBytes);
  if (outcome.kind === "streaming") outcome.stream.destroy();
  throw new Error(
    method.streams
      ? "the method streams, but the handler is not made by awslambda.streamifyResponse"
      : "the handler streams, but the method does not: say streams in its row",
  );
}

/** What the work gives, or undefined when it takes longer. */
function withinTime<Given>(clock: Clock, milliseconds: number, work: Promise<Given>): Promise<Given | undefined> {
  return new Promise((resolve, reject) => {
    const cancel = clock.at(clock.now() + milliseconds, () => resolve(undefined));
    work.then(resolve, reject).finally(cancel);
  });
}

function withRequestId(made: HttpAnswer, requestId: string): HttpAnswer {
  return { ...made, headers: [...made.headers, ["x-amzn-RequestId", requestId]] };
}

/** What cannot even be read as HTTP is refused in the envelope too. */
function refuseUnreadable(api: RestApi, socket: Socket): void {
  if (!socket.writable) return;
  const { status, headers, body } = refusalOf(api, "BAD_REQUEST_PARAMETERS", newRequestId());
  const all = [...headers, ["Connection", "close"], ["Content-Length", Buffer.byteLength(body)]];
  const head = all.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.end(`HTTP/1.1 ${status} Bad Request\r\n${head}\r\n${body}`);
}
