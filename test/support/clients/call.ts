import { ROUTES, type Route, type RouteName } from "../../../lib/http/routes.ts";
import { checkOperation } from "../checks/described-api.ts";
import { keepSecretsOf } from "../run/secrets.ts";

/** What a test says of one request. */
export interface Request {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  /** A string is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly multiValueHeaders?: Readonly<Record<string, readonly string[]>>;
  readonly address?: string;
}

/** What came back, its JSON parsed. */
export interface Response {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** Null when the answer is not JSON. */
  readonly json: Envelope | null;
}

export interface Envelope {
  readonly success: boolean;
  readonly data?: unknown;
  readonly meta?: { readonly total: number; readonly limit: number; readonly offset: number };
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly details?: readonly { readonly path: string; readonly message: string }[];
  };
}

type Handler = (event: never, context: never) => unknown;

/** Calls a handler as API Gateway would call it; what it answers must be as the API describes it. */
export async function call(handler: Handler, route: RouteName, request: Request = {}): Promise<Response> {
  const answer = (await handler(gatewayEvent(ROUTES[route], request) as never, {} as never)) as {
    readonly statusCode: number;
    readonly headers: Record<string, string>;
    readonly body: string;
  };
  const contentType = answer.headers["Content-Type"] ?? null;
  const isJson = contentType === "application/json";
  const json = isJson ? (JSON.parse(answer.body) as Envelope) : null;
  if (answer.statusCode === 200) keepSecretsOf(request.body);
  checkOperation(route, { status: answer.statusCode, contentType, text: answer.body });
  return { status: answer.statusCode, headers: answer.headers, text: answer.body, json };
}

/** A REST API's proxy event (version 1). */
function gatewayEvent(route: Route, request: Request): object {
  const { path = {}, query = {}, body, token, headers = {}, multiValueHeaders = null, address = "192.0.2.1" } = request;
  const filled = route.path.replace(/\{(\w+)\}/g, (_, name: string) => path[name] ?? "");
  return {
    httpMethod: route.method,
    path: filled,
    resource: route.path,
    headers: {
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...headers,
    },
    multiValueHeaders,
    pathParameters: path,
    multiValueQueryStringParameters: Object.fromEntries(
      Object.entries(query).map(([name, value]) => [name, typeof value === "string" ? [value] : value]),
    ),
    body: body === undefined ? null : typeof body === "string" ? body : JSON.stringify(body),
    isBase64Encoded: false,
    requestContext: { identity: { sourceIp: address }, domainName: "api.example.com", path: `/dev${filled}` },
  };
}
