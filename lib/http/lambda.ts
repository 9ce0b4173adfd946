import middy, { type MiddlewareObj, type Request } from "@middy/core";
import { executionModeStandard } from "@middy/core/Standard";
import { executionModeStreamifyResponse } from "@middy/core/StreamifyResponse";
import type { Context } from "aws-lambda";
import { authenticate, type Caller } from "../access/authenticate.ts";
import type { Pepper, RateLimits, Tokens, Workspaces } from "../access/ports.ts";
import { countRequest, isRefused } from "../access/rate-limit.ts";
import type { Repeats } from "../access/repeats.ts";
import { Failure, type FailureDetail } from "../model/failure.ts";
import { describeFault } from "../model/fault.ts";
import { newId } from "../model/id.ts";
import { DEPLOYMENT } from "../model/workspace/pause.ts";
import { type Answer, answerWith, refuseWith } from "./answer.ts";
import { bodyFailure, parseBody, weighBody } from "./body.ts";
import type { Endpoint, OpenEndpoint, PathOf } from "./endpoint.ts";
import { invalid, queryOf, unknownNames, validate } from "./input.ts";
import { refuseUnknown } from "./no-such-endpoint.ts";
import { oncePerKey } from "./once-per-key.ts";
import {
  type GatewayEvent,
  header,
  lowerCaseNames,
  onlyHeader,
  ownAddress,
  pathParameter,
  sourceAddress,
} from "./request.ts";
import { CONTRACT, ROUTES, type Route, type RouteName } from "./routes.ts";
import { answerFile, type Site } from "./site.ts";

/** What runs before every endpoint behind a token. */
export interface Gate {
  readonly tokens: Tokens;
  readonly pepper: Pepper;
  readonly workspaces: Pick<Workspaces, "find">;
  readonly rateLimits: RateLimits;
  readonly repeats: Repeats;
  readonly requestsPerMinute: number;
  readonly now: () => Date;
}

/** What one request has come to so far; it travels in the invocation's context. */
interface Exchange {
  readonly id: string;
  readonly at: Date;
  headers: Readonly<Record<string, string>>;
  /** Its count; rejects when there were too many. Nothing is answered before it is known. */
  counting: Promise<void>;
  caller?: Caller;
  resource?: unknown;
  input?: unknown;
}

type Invocation = Context & { exchange: Exchange };
type Step = Request<GatewayEvent, Answer, Error, Invocation>;
type Middleware = MiddlewareObj<GatewayEvent, Answer, Error, Invocation>;

/** The function that answers for an endpoint: let in, looked up, checked, run, put into the envelope. */
export function lambda<Name extends RouteName, Input, Resource>(
  endpoint: Endpoint<Name, Input, Resource>,
  gate: () => Gate,
) {
  const route: Route = ROUTES[endpoint.route];
  const callerOf = ({ context }: Step): Caller => {
    if (!context.exchange.caller) throw new Error("the caller is not known yet");
    return context.exchange.caller;
  };

  const admit = async (step: Step) => {
    const { exchange } = step.context;
    exchange.counting = count(gate(), endpoint.route, step);
    exchange.counting.catch(() => undefined); // thrown when the request is answered
    if (!endpoint.onlyReads || isRefused(sourceAddress(step.event), exchange.at)) await exchange.counting;
    exchange.caller = await letIn(gate(), route, step);
  };
  const find = async (step: Step) => {
    const asked = { path: pathOf<Name>(route, step.event), workspace: callerOf(step).workspace };
    step.context.exchange.resource = (await endpoint.find?.(asked)) ?? null;
  };
  const check = (step: Step) => {
    const query = queryOf(step.event);
    const unknown = unknownNames(endpoint.input, query);
    if (unknown.length > 0 && !CONTRACT.has(endpoint.route)) throw invalid(unknown);
    const { exchange } = step.context;
    if (unknown.length > 0) exchange.headers = { ...exchange.headers, Warning: warningOf(unknown) };
    const given = { ...query, ...(route.body ? { body: step.event.body } : {}) };
    exchange.input = endpoint.input ? validate(endpoint.input, given) : undefined;
  };
  const answer = async (step: Step) => {
    const { exchange } = step.context;
    const { workspace, token } = callerOf(step);
    const reply = await endpoint.run({
      path: pathOf<Name>(route, step.event),
      workspace,
      input: exchange.input as Input,
      resource: exchange.resource as Resource,
      actor: token.owner,
      token,
      ifMatch: header(step.event, "if-match") ?? null,
      ownAddress: ownAddress(step.event),
      at: exchange.at,
    });
    await exchange.counting;
    return answerWith(reply, exchange.headers);
  };
  const run = async (step: Step) => {
    const key = route.method === "POST" ? header(step.event, "idempotency-key") : undefined;
    if (key === undefined) return answer(step);
    const { exchange } = step.context;
    const { workspace, token } = callerOf(step);
    const content = [endpoint.route, pathOf<Name>(route, step.event), exchange.input ?? null];
    const asked = { workspaceId: workspace.id, tokenId: token.id, key, content, at: exchange.at };
    const given = await oncePerKey(gate().repeats, asked, () => answer(step));
    return { ...given, headers: { ...exchange.headers, ...given.headers } };
  };

  const body = route.body ? [{ before: ({ event }: Step) => weighBody(event) }, { before: parseBody }] : [];
  return frame(route, () => gate().now(), run, [{ before: admit }, { before: find }, ...body, { before: check }]);
}

/** The function that answers for an endpoint without a token: it counts requests where it wants to, no caller is looked up. */
export function openLambda(endpoint: OpenEndpoint, now: () => Date) {
  const run = async ({ event, context: { exchange } }: Step) => {
    const path = (name: string) => pathParameter(event, name);
    const query = (name: string) => event.multiValueQueryStringParameters?.[name]?.[0];
    const request = { path, query, address: sourceAddress(event), at: exchange.at };
    return answerWith(await endpoint.run(request), exchange.headers);
  };
  return frame({ streams: false }, now, run, []);
}

/** The function behind every path and method that the endpoint table does not have. */
export function refusingLambda(gate: () => Pick<Gate, "rateLimits" | "requestsPerMinute" | "now">) {
  const run = ({ event, context: { exchange } }: Step) => refuseUnknown(gate(), event, exchange.at);
  return frame({ streams: false }, () => gate().now(), run, []);
}

/** The function that serves the console's files: streamed, because some of them are bytes. */
export function siteLambda(site: () => Site, now: () => Date) {
  return frame(
    { streams: true },
    now,
    async ({ event, context: { exchange } }) => {
      const { headers, ...answer } = answerFile(site(), event);
      return { ...answer, headers: { ...exchange.headers, ...headers } };
    },
    [],
  );
}

async function count(gate: Gate, name: RouteName, { event, context: { exchange } }: Step): Promise<void> {
  const { perMinute }: Route = ROUTES[name];
  const [limit, policy] = perMinute ? [perMinute, name] : [gate.requestsPerMinute];
  const counted = await countRequest(gate.rateLimits, limit, sourceAddress(event), exchange.at, policy);
  exchange.headers = { ...exchange.headers, ...counted };
}

async function letIn(gate: Gate, route: Route, { event, context: { exchange } }: Step): Promise<Caller> {
  const caller = await authenticate(gate, {
    authorization: onlyHeader(event, "authorization"),
    workspaceId: pathParameter(event, "workspace_id"),
    scope: route.scope ?? "read",
    at: exchange.at,
  });
  const isOperators = caller.workspace.id === DEPLOYMENT;
  if (route.deployment === "also" || isOperators === (route.deployment === "only")) return caller;
  const whose = isOperators ? "the operators' workspace has only the fleet" : `only the workspace ${DEPLOYMENT} has it`;
  throw new Failure("NOT_FOUND", `no such resource in this workspace: ${whose}, tokens, a pause and the audit log`);
}

/** What the contract's endpoints ignore, as a header (RFC 7234, 5.5): a client that misspells a filter would get all rows unseen. */
const warningOf = (unknown: readonly FailureDetail[]): string =>
  unknown
    .slice(0, 5)
    .map(
      ({ path, message }) =>
        `299 - "${`${path.slice(0, 50)} was ignored: it ${message}`.replace(/[^ !#-[\]-~]/g, "?")}"`,
    )
    .join(", ");

/** An answer is what its type says, runs nothing, and may not be framed (OWASP, REST Security). */
const GUARDS = {
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
};

function frame(
  { streams }: Pick<Route, "streams">,
  now: () => Date,
  run: (step: Step) => Promise<Answer>,
  steps: readonly Middleware[],
) {
  const begin = ({ event, context }: Step) => {
    event.headers = lowerCaseNames(event.headers ?? {});
    const id = newId("req");
    const headers = { "X-Request-Id": id, "Cache-Control": "no-store", ...GUARDS };
    context.exchange = { id, at: now(), headers, counting: Promise.resolve() };
  };
  const refuse = async (step: Step) => {
    const counted = await step.context.exchange.counting.catch((error: unknown) => ({ error }));
    step.response = refusal(counted ? counted.error : step.error, step); // too many comes before everything else
  };
  const handler = (event: GatewayEvent, context: Invocation) =>
    run({ event, context, response: undefined, error: undefined, internal: {} });

  return middy<GatewayEvent, Answer, Error, Invocation>({
    executionMode: streams ? executionModeStreamifyResponse : executionModeStandard,
  })
    .use([{ before: begin, onError: refuse }, ...steps])
    .handler(handler);
}

/** A failure as it was meant; anything else is logged with its cause and answered without it. */
function refusal(error: unknown, { event, context: { exchange } }: Step): Answer {
  const meant = bodyFailure(error, event);
  if (meant instanceof Failure) return refuseWith(meant, exchange.headers);
  const path = event.path?.replace(/\/ring_\w+/, "/ring_…");
  console.error(JSON.stringify({ level: "error", request_id: exchange.id, path, fault: describeFault(error) }));
  return refuseWith(
    new Failure("INTERNAL_ERROR", `an unexpected error; give the operator the request id ${exchange.id}`),
    exchange.headers,
  );
}

const pathNames = (path: string): readonly string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);

function pathOf<Name extends RouteName>(route: Route, event: GatewayEvent): PathOf<Name> {
  return Object.fromEntries(pathNames(route.path).map((name) => [name, pathParameter(event, name)])) as PathOf<Name>;
}
