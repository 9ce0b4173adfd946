import { randomUUID } from "node:crypto";
import { grouped, type HttpRequest, headerOf } from "./http-request.ts";

const TEXT = /^(text\/|application\/(.*\+)?(json|xml|javascript|x-www-form-urlencoded))/i;

/** The event of a function URL, payload version 2.0. Unlike a REST API it decodes the path and lowers header names. */
export function urlEvent(request: HttpRequest, functionName: string, at: number) {
  const host = headerOf(request, "host") ?? "";
  const headers = grouped(request.headers.map(([name, value]) => [name.toLowerCase(), value]));
  const cookies = headers.get("cookie")?.flatMap((value) => value.split("; "));
  const query = grouped(new URLSearchParams(request.rawQuery));
  const isText = TEXT.test(headerOf(request, "content-type") ?? "text/plain");
  return {
    version: "2.0",
    routeKey: "$default",
    rawPath: request.path,
    rawQueryString: request.rawQuery,
    ...(cookies && { cookies }),
    headers: { ...joined(headers), "x-forwarded-for": request.sourceIp, "x-forwarded-proto": "http" },
    ...(query.size > 0 && { queryStringParameters: joined(query) }),
    requestContext: {
      accountId: "anonymous",
      apiId: functionName,
      domainName: host,
      domainPrefix: functionName,
      http: {
        method: request.method,
        path: request.path,
        protocol: "HTTP/1.1",
        sourceIp: request.sourceIp,
        userAgent: headerOf(request, "user-agent") ?? "",
      },
      requestId: randomUUID(),
      routeKey: "$default",
      stage: "$default",
      time: new Date(at).toUTCString(),
      timeEpoch: at,
    },
    ...(request.body.length > 0 && { body: request.body.toString(isText ? "utf8" : "base64") }),
    isBase64Encoded: request.body.length > 0 && !isText,
  };
}

function joined(groups: Map<string, string[]>): Record<string, string> {
  return Object.fromEntries([...groups].map(([name, values]) => [name, values.join(",")]));
}
