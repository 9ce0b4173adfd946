import { AsyncLocalStorage } from "node:async_hooks";
import diagnostics from "node:diagnostics_channel";
import { type ClientRequest, type IncomingMessage, Server, ServerResponse } from "node:http";
import { Socket } from "node:net";

/**
 * Loaded into the process that is measured, before its program: every answer of the API says in the header
 * `x-bench-calls` how many requests to DynamoDB and how many SQL statements were sent for it, as `3 1`.
 */
interface Calls {
  dynamodb: number;
  sql: number;
}

const current = new AsyncLocalStorage<Calls>();

const emit = Server.prototype.emit;
Server.prototype.emit = function (this: Server, event: string, ...given: unknown[]) {
  const [request, response] = given as [IncomingMessage?, ServerResponse?];
  if (event !== "request" || !response || !request?.url?.startsWith("/api/"))
    return Reflect.apply(emit, this, [event, ...given]);
  const calls: Calls = { dynamodb: 0, sql: 0 };
  callsOf.set(response, calls);
  return current.run(calls, () => Reflect.apply(emit, this, [event, ...given]));
} as typeof emit;

const callsOf = new WeakMap<ServerResponse, Calls>();

const { writeHead } = ServerResponse.prototype;
ServerResponse.prototype.writeHead = function (this: ServerResponse, ...given: unknown[]) {
  const calls = callsOf.get(this);
  if (calls) this.setHeader("x-bench-calls", `${calls.dynamodb} ${calls.sql}`);
  return Reflect.apply(writeHead, this, given);
} as typeof writeHead;

diagnostics.subscribe("http.client.request.created", (message) => {
  const { request } = message as { readonly request: ClientRequest };
  const calls = current.getStore();
  if (calls && String(request.getHeader("x-amz-target")).startsWith("DynamoDB_")) calls.dynamodb += 1;
});

/** What PostgreSQL's protocol calls a simple query, and the execution of a prepared one. */
const STATEMENTS = ["Q", "E"].map((letter) => letter.charCodeAt(0));

const { write } = Socket.prototype;
Socket.prototype.write = function (this: Socket, ...given: unknown[]) {
  const calls = current.getStore();
  const [bytes] = given;
  if (calls && Buffer.isBuffer(bytes) && STATEMENTS.includes(bytes[0] ?? 0) && isMessage(bytes)) calls.sql += 1;
  return Reflect.apply(write, this, given);
} as typeof write;

/** Whether these bytes are one message of that protocol, whose length follows its letter: HTTP begins with letters, too. */
const isMessage = (bytes: Buffer): boolean => bytes.length > 4 && bytes.readUInt32BE(1) === bytes.length - 1;
