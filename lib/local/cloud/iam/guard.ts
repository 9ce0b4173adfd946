import { createHmac, randomBytes, randomUUID } from "node:crypto";
import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  request as send,
} from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { type ArnOf, demandsOf, type ServiceRequest } from "./demands.ts";
import { allows, type Demand, type Statement } from "./policy.ts";

/** Who may do what. */
export interface Caller {
  /** A function's physical name. */
  readonly name: string;
  readonly statements: readonly Statement[];
}

interface GuardSettings {
  /** Where each service really is, by the name that requests are signed for. */
  readonly endpoints: Readonly<Record<string, string>>;
  /** With which the services let the guard in; who has it may do everything, as the operator may. */
  readonly accessKeyId: string;
  readonly callers: readonly Caller[];
  readonly arnOf: ArnOf;
  /** The name of the caller that sent a request with this trace header, where callers share the access key. */
  readonly callerOf?: ((traceHeader: string) => string | undefined) | undefined;
  /** Receives every refusal, so that the missing grant has a name. */
  readonly onRefusal: (caller: string, demand: Demand) => void;
}

/** A door in front of the cloud's services that lets each caller do what its policy allows. */
export interface Guard {
  readonly address: string;
  /** The SDK's variables with this door in the place of every service. */
  readonly endpoints: Readonly<Record<string, string>>;
  /** The same for one caller, with its own access key. */
  environmentOf(name: string): Record<string, string>;
  close(): Promise<void>;
}

const CREDENTIAL = /Credential=([^/,\s]+)\/\d{8}\/[^/]+\/([^/]+)\/aws4_request/;

/** Listens on 127.0.0.1. Callers are identified by their access keys; an unknown key is refused. */
export async function startGuard(settings: GuardSettings): Promise<Guard> {
  const secret = randomBytes(32);
  const accessKeyOf = (name: string) => keyFor(secret, name);
  const callers = new Map(settings.callers.map((caller) => [accessKeyOf(caller.name), caller]));
  const connections = new Agent({ keepAlive: true });
  const server = createServer({ keepAliveTimeout: 75_000 }, (incoming, response) => {
    answer(incoming, response, settings, callers, connections).catch((error: Error) => fault(response, error));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const names = Object.keys(settings.endpoints).map((service) => `AWS_ENDPOINT_URL_${service.toUpperCase()}`);
  const behindDoor = Object.fromEntries(names.map((name) => [name, address]));
  return {
    address,
    endpoints: behindDoor,
    environmentOf: (name) => ({ ...behindDoor, AWS_ACCESS_KEY_ID: accessKeyOf(name) }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        connections.destroy();
      }),
  };
}

async function answer(
  incoming: IncomingMessage,
  response: ServerResponse,
  { endpoints, accessKeyId, arnOf, onRefusal, ...settings }: GuardSettings,
  callers: ReadonlyMap<string, Caller>,
  agent: Agent,
): Promise<void> {
  const [, accessKey = "", service = ""] = CREDENTIAL.exec(incoming.headers.authorization ?? "") ?? [];
  const named = settings.callerOf?.(incoming.headers["x-amzn-trace-id"]?.toString() ?? "");
  const caller = named ? settings.callers.find(({ name }) => name === named) : callers.get(accessKey);
  const endpoint = endpoints[service];
  const body = await buffer(incoming);
  if (!endpoint || (!caller && accessKey !== accessKeyId)) {
    refuse(response, service, "UnrecognizedClientException", "The security token included in the request is invalid.");
    return;
  }
  const demands = caller ? demandsOf(requestOf(incoming, service, body), arnOf) : [];
  const refused = demands.find((one) => !allows(caller?.statements ?? [], one));
  if (caller && refused) {
    onRefusal(caller.name, refused);
    refuse(response, service, "AccessDeniedException", sentenceFor(caller, refused, arnOf));
    return;
  }
  const authorization = incoming.headers.authorization?.replace(accessKey, accessKeyId);
  await forward(incoming, { ...incoming.headers, authorization }, { body, endpoint, agent, response });
}

interface Forwarding {
  readonly body: Buffer;
  readonly endpoint: string;
  readonly agent: Agent;
  readonly response: ServerResponse;
}

function requestOf(
  { method = "", url = "/", headers }: IncomingMessage,
  service: string,
  body: Buffer,
): ServiceRequest {
  return {
    service,
    method,
    url: new URL(url, "http://localhost"),
    action: String(headers["x-amz-target"] ?? "").split(".")[1],
    body: body.length === 0 ? undefined : JSON.parse(body.toString("utf8")),
  };
}

async function forward(
  { method, url }: IncomingMessage,
  headers: IncomingHttpHeaders,
  { body, endpoint, agent, response }: Forwarding,
): Promise<void> {
  const answered = await new Promise<IncomingMessage>((resolve, reject) => {
    const sending = send(new URL(url ?? "/", endpoint), { method, headers, agent }, resolve).on("error", reject);
    response.on("close", () => response.writableFinished || sending.destroy()); // a caller that has gone asks no more
    sending.end(body);
  });
  response.writeHead(answered.statusCode ?? 502, answered.headers);
  await pipeline(answered, response);
}

/** As IAM words it, so that what people know to search for is found. */
function sentenceFor({ name }: Caller, { action, resource }: Demand, arnOf: ArnOf): string {
  const user = arnOf("sts", `assumed-role/${name}`);
  return `User: ${user} is not authorized to perform: ${action} on resource: ${resource} because no identity-based policy allows the ${action} action`;
}

/** The JSON services answer 400 to what is not allowed, Scheduler 403 (AWS, Common Errors of each service). */
function refuse(response: ServerResponse, service: string, type: string, message: string): void {
  reply(response, service === "scheduler" ? 403 : 400, type, message);
}

function fault(response: ServerResponse, { message }: Error): void {
  if (response.headersSent) response.destroy();
  else reply(response, 500, "InternalFailure", `the door of the embedded cloud failed: ${message}`);
}

function reply(response: ServerResponse, status: number, type: string, message: string): void {
  response.writeHead(status, {
    "content-type": "application/x-amz-json-1.0",
    "x-amzn-errortype": type,
    "x-amzn-requestid": randomUUID(),
  });
  response.end(JSON.stringify({ __type: `com.amazon.coral.service#${type}`, message, Message: message }));
}

/** An access key id that starts as those of temporary credentials do, and cannot be guessed. */
function keyFor(secret: Buffer, name: string): string {
  return `ASIA${createHmac("sha256", secret).update(name).digest("hex").slice(0, 32).toUpperCase()}`;
}
