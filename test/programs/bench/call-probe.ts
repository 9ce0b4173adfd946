import { AsyncLocalStorage } from "node:async_hooks";
import diagnostics from "node:diagnostics_channel";
import { type ClientRequest, type IncomingMessage, Server, ServerResponse } from "node:http";

/**
 * Loaded into the process that is measured, before its program: every answer of the API says in the header
 * `x-bench-calls` how many requests to DynamoDB were sent for it.
 */
const current = new AsyncLocalStorage<{ requests: number }>();
const callsOf = new WeakMap<ServerResponse, { requests: number }>();

const emit = Server.prototype.emit;
Server.prototype.emit = function (this: Server, event: string, ...given: unknown[]) {
  const [request, response] = given as [IncomingMessage?, ServerResponse?];
  if (event !== "request" || !response || !request?.url?.startsWith("/api/"))
    return Reflect.apply(emit, this, [event, ...given]);
  const calls = { requests: 0 };
  callsOf.set(response, calls);
  return current.run(calls, () => Reflect.apply(emit, this, [event, ...given]));
} as typeof emit;

const { writeHead } = ServerResponse.prototype;
ServerResponse.prototype.writeHead = function (this: ServerResponse, ...given: unknown[]) {
  const calls = callsOf.get(this);
  if (calls) this.setHeader("x-bench-calls", calls.requests);
  return Reflect.apply(writeHead, this, given);
} as typeof writeHead;

diagnostics.subscribe("http.client.request.created", (message) => {
  const { request } = message as { readonly request: ClientRequest };
  const calls = current.getStore();
  if (calls && String(request.getHeader("x-amz-target")).startsWith("DynamoDB_")) calls.requests += 1;
});
