import middy from "@middy/core";
import { executionModeStandard } from "@middy/core/Standard";
import { executionModeStreamifyResponse } from "@middy/core/StreamifyResponse";
import { authenticate, type Caller } from "../access/authenticate.ts";
import type { Pepper, RateLimits, Tokens, Workspaces } from "../access/ports.ts";
import { countRequest, isRefused } from "../access/rate-limit.ts";
import type { Repeats } from "../access/repeats.ts";
import { Failure, type FailureDetail } from "../model/failure.ts";
import { describeFault } from "../model/fault.ts";
import { newId } from "../model/id.ts";
import { isJsonLog, type LogLine, writeLine } from "../model/log-line.ts";
import { DEPLOYMENT } from "../model/workspace/pause.ts";
import { type Answer, answerWith, refuseWith } from "./answer.ts";
import { bodyOf } from "./body.ts";
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

/** One request, and what its answer will have beside what the endpoint gives. */
interface Exchange {
  readonly event: GatewayEvent;
  readonly id: string;
  readonly at: Date;
  headers: Readonly<Record<string, string>>;
  caller: Caller | null;
  /** Its count; rejects when there were too many. Nothing is answered before it is known. */
  counting: Promise<void>;
}

/** The function that answers for an endpoint: let in, looked up, checked, run, put into the envelope. */
export function lambda<Name extends RouteName, Input, Resource>(
  endpoint: Endpoint<Name, Input, Resource>,
  gate: () => Gate,
) {
  const route: Route = ROUTES[endpoint.route];
  const run = async (exchange: Exchange): Promise<Answer> => {
    const { event, at } = exchange;
    exchange.counting = count(gate(), endpoint.route, exchange);
    exchange.counting.catch(() => undefined); // thrown when the request is answered
    if (!endpoint.onlyReads || isRefused(sourceAddress(event), at)) await exchange.counting;
    exchange.caller = await letIn(gate(), route, exchange);
    const { workspace, token } = exchange.caller;
    const path = pathOf<Name>(route, event);
    const resource = ((await endpoint.find?.({ path, workspace })) ?? null) as Resource;
    const body = route.body ? { body: bodyOf(event) } : {};
    const input = check(endpoint, exchange, body);
    const answer = async () => {
      const reply = await endpoint.run({
        ...{ path, workspace, input, resource, token, at },
        actor: token.owner,
        ifMatch: header(event, "if-match") ?? null,
        ownAddress: ownAddress(event),
      });
      await exchange.counting;
      return answerWith(reply, exchange.headers);
    };
    const key = route.method === "POST" ? header(event, "idempotency-key") : undefined;
    if (key === undefined) return answer();
    const content = [endpoint.route, path, input ?? null];
    const asked = { workspaceId: workspace.id, tokenId: token.id, key, content, at };
    const given = await oncePerKey(gate().repeats, asked, answer);
    return { ...given, headers: { ...exchange.headers, ...given.headers } };
  };
  return frame(route, () => gate().now(), run);
}

/** The function that answers for an endpoint without a token: it counts requests where it wants to, no caller is looked up. */
export function openLambda(endpoint: OpenEndpoint, now: () => Date) {
  return frame({ streams: false }, now, async ({ event, at, headers }) => {
    const path = (name: string) => pathParameter(event, name);
    const query = (name: string) => event.multiValueQueryStringParameters?.[name]?.[0];
    return answerWith(await endpoint.run({ path, query, address: sourceAddress(event), at }), headers);
  });
}

/** The function behind every path and method that the endpoint table does not have. */
export function refusingLambda(gate: () => Pick<Gate, "rateLimits" | "requestsPerMinute" | "now">) {
  const now = () => gate().now();
  return frame({ streams: false }, now, ({ event, at }) => refuseUnknown(gate(), event, at));
}

/** The function that serves the console's files: streamed, because some of them are bytes. */
export function siteLambda(site: () => Site, now: () => Date) {
  return frame({ streams: true }, now, async ({ event, headers }) => {
    const answer = answerFile(site(), event);
    return { ...answer, headers: { ...headers, ...answer.headers } };
  });
}

async function count(gate: Gate, name: RouteName, exchange: Exchange): Promise<void> {
  const { perMinute }: Route = ROUTES[name];
  const [limit, policy] = perMinute ? [perMinute, name] : [gate.requestsPerMinute];
  const counted = await countRequest(gate.rateLimits, limit, sourceAddress(exchange.event), exchange.at, policy);
  exchange.headers = { ...exchange.headers, ...counted };
}

async function letIn(gate: Gate, route: Route, { event, at }: Exchange): Promise<Caller> {
  const caller = await authenticate(gate, {
    authorization: onlyHeader(event, "authorization"),
    workspaceId: pathParameter(event, "workspace_id"),
    scope: route.scope ?? "read",
    byInvitation: route.byInvitation ?? false,
    at,
  });
  const isOperators = caller.workspace.id === DEPLOYMENT;
  if (route.deployment === "also" || isOperators === (route.deployment === "only")) return caller;
  const whose = isOperators ? "the operators' workspace has only the fleet" : `only the workspace ${DEPLOYMENT} has it`;
  throw new Failure("NOT_FOUND", `no such resource in this workspace: ${whose}, tokens, a pause and the audit log`);
}

/** What a caller says by query and body, judged by the endpoint's schema. */
function check<Name extends RouteName, Input, Resource>(
  { route, input }: Endpoint<Name, Input, Resource>,
  exchange: Exchange,
  body: { readonly body?: unknown },
): Input {
  const query = queryOf(exchange.event);
  const unknown = unknownNames(input, query);
  if (unknown.length > 0 && !CONTRACT.has(route)) throw invalid(unknown);
  if (unknown.length > 0) exchange.headers = { ...exchange.headers, Warning: warningOf(unknown) };
  return (input ? validate(input, { ...query, ...body }) : undefined) as Input;
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

/** What every function is: nothing that it throws leaves it. */
function frame({ streams }: Pick<Route, "streams">, now: () => Date, run: (exchange: Exchange) => Promise<Answer>) {
  const handler = async (event: GatewayEvent): Promise<Answer> => {
    event.headers = lowerCaseNames(event.headers ?? {});
    const id = newId("req");
    const headers = { "X-Request-Id": id, "Cache-Control": "no-store", ...GUARDS };
    const exchange: Exchange = { event, id, at: now(), headers, caller: null, counting: Promise.resolve() };
    const answer = await run(exchange).catch(async (error: unknown) => {
      const counted = await exchange.counting.catch((tooMany: unknown) => ({ tooMany }));
      return refusal(counted ? counted.tooMany : error, exchange); // too many comes before everything else
    });
    if (isJsonLog()) writeLine(requestLine(exchange, answer, now()));
    return answer;
  };
  return middy<GatewayEvent, Answer>({
    executionMode: streams ? executionModeStreamifyResponse : executionModeStandard,
  }).handler(handler);
}

/** One line for each request on AWS; on one machine the console's own requests would fill the log. */
const requestLine = ({ event, id, at, caller }: Exchange, { statusCode }: Answer, end: Date): LogLine => ({
  ...{ level: "info", event: "request", request_id: id, ...placeOf(event) },
  ...{ status: statusCode, duration_ms: end.getTime() - at.getTime() },
  ...(caller && { workspace_id: caller.workspace.id, token_id: caller.token.id }),
});

/** The path with its parameters' names: what they are may be a row's value, or a doorbell's secret. */
const placeOf = ({ httpMethod, resource, requestContext }: GatewayEvent) => ({
  method: httpMethod ?? requestContext?.http?.method,
  path: resource ?? requestContext?.http?.path,
});

/** A failure as it was meant; anything else is logged with its cause and answered without it. */
function refusal(error: unknown, { event, id, headers }: Exchange): Answer {
  if (error instanceof Failure) return refuseWith(error, headers);
  writeLine({ level: "error", request_id: id, ...placeOf(event), fault: describeFault(error) });
  return refuseWith(
    new Failure("INTERNAL_ERROR", `an unexpected error; give the operator the request id ${id}`),
    headers,
  );
}

const pathNames = (path: string): readonly string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);

function pathOf<Name extends RouteName>(route: Route, event: GatewayEvent): PathOf<Name> {
  return Object.fromEntries(pathNames(route.path).map((name) => [name, pathParameter(event, name)])) as PathOf<Name>;
}
