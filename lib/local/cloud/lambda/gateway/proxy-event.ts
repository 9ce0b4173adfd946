import { randomUUID } from "node:crypto";
import { traceRoot } from "../chain.ts";
import { grouped, type HttpRequest, headerOf } from "./http-request.ts";
import type { RouteMatch } from "./match-route.ts";
import type { RestApi } from "./rest-routes.ts";

/** What the event says beside the request. */
interface Surroundings {
  readonly api: RestApi;
  readonly accountId: string;
  readonly requestId: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/**
 * The event of a Lambda proxy integration, payload version 1.0, with every member that AWS sends. Path and path
 * parameters stay as they were sent (REST APIs do not decode them), query parameters are decoded.
 */
export function proxyEvent(request: HttpRequest, { method, pathParameters }: RouteMatch, around: Surroundings) {
  const { api, accountId, requestId, at } = around;
  const headers = grouped([...request.headers, ...forwarded(request)]);
  const query = grouped(new URLSearchParams(request.rawQuery));
  const isBinary = isBinaryBody(request, api);
  return {
    resource: method.resourcePath,
    path: request.path,
    httpMethod: request.method,
    headers: lastOf(headers),
    multiValueHeaders: Object.fromEntries(headers),
    queryStringParameters: query.size === 0 ? null : lastOf(query),
    multiValueQueryStringParameters: query.size === 0 ? null : Object.fromEntries(query),
    pathParameters,
    stageVariables: null,
    requestContext: {
      resourceId: method.resourceId,
      resourcePath: method.resourcePath,
      httpMethod: request.method,
      extendedRequestId: `${randomUUID().slice(-12)}AAA=`,
      requestTime: clfTime(new Date(at)),
      path: request.path, // with the stage before it only where there is no domain of one's own
      accountId,
      protocol: "HTTP/1.1",
      stage: api.stageName,
      domainPrefix: api.id.toLowerCase(),
      requestTimeEpoch: at,
      requestId,
      identity: identityOf(request),
      domainName: headerOf(request, "host") ?? "",
      deploymentId: "local",
      apiId: api.id.toLowerCase(),
    },
    body: request.body.length === 0 ? null : request.body.toString(isBinary ? "base64" : "utf8"),
    isBase64Encoded: isBinary && request.body.length > 0,
  };
}

/** True when a media type is among those that the API treats as bytes. */
export function isBinaryType(contentType: string | undefined, { binaryMediaTypes }: RestApi): boolean {
  const type = contentType?.split(";")[0]?.trim().toLowerCase() ?? "";
  return binaryMediaTypes.some((known) => known === "*/*" || known.toLowerCase() === type);
}

const isBinaryBody = (request: HttpRequest, api: RestApi): boolean =>
  isBinaryType(headerOf(request, "content-type") ?? "application/json", api);

/** What the gateway adds. The client's address comes last: a client may have invented what is before it. */
function forwarded(request: HttpRequest): [string, string][] {
  return [
    ["X-Amzn-Trace-Id", traceRoot()],
    ["X-Forwarded-For", request.sourceIp],
    ["X-Forwarded-Port", String(request.port)],
    ["X-Forwarded-Proto", "http"],
  ];
}

function identityOf(request: HttpRequest) {
  return {
    cognitoIdentityPoolId: null,
    accountId: null,
    cognitoIdentityId: null,
    caller: null,
    sourceIp: request.sourceIp,
    principalOrgId: null,
    accessKey: null,
    cognitoAuthenticationType: null,
    cognitoAuthenticationProvider: null,
    userArn: null,
    userAgent: headerOf(request, "user-agent") ?? null,
    user: null,
  };
}

function lastOf(groups: Map<string, string[]>): Record<string, string> {
  return Object.fromEntries([...groups].map(([name, values]) => [name, values.at(-1) ?? ""]));
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** `09/Apr/2026:12:34:56 +0000` */
function clfTime(at: Date): string {
  const [day, time] = at.toISOString().split("T");
  const [year, month, dayOfMonth] = (day ?? "").split("-");
  return `${dayOfMonth}/${MONTHS[Number(month) - 1]}/${year}:${time?.slice(0, 8)} +0000`;
}

/** A request's id as the gateway makes them. */
export const newRequestId = (): string => randomUUID();
