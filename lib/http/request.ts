import { Failure } from "../model/failure.ts";

/** What the frame reads of a request: API Gateway's REST event, or a Function URL's, which names the address elsewhere. */
export interface GatewayEvent {
  readonly httpMethod?: string;
  /** The path as the gateway knows it, `/api/v1/t/{workspace_id}/mappings`: without what a domain puts before it. */
  readonly resource?: string;
  readonly path?: string;
  headers?: Readonly<Record<string, string | undefined>> | null;
  readonly multiValueHeaders?: Readonly<Record<string, readonly string[] | undefined>> | null;
  readonly pathParameters?: Readonly<Record<string, string | undefined>> | null;
  readonly multiValueQueryStringParameters?: Readonly<Record<string, readonly string[] | undefined>> | null;
  body?: unknown;
  readonly isBase64Encoded?: boolean;
  readonly requestContext?: {
    readonly identity?: { readonly sourceIp?: string };
    readonly http?: { readonly sourceIp?: string; readonly method?: string; readonly path?: string };
    readonly domainName?: string;
    readonly path?: string;
  };
}

/** The same headers with their names in lower case: clients write them as they like (RFC 9110, 5.1). */
export function lowerCaseNames(headers: Readonly<Record<string, string | undefined>>) {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** A header by its name in lower case. */
export function header(event: GatewayEvent, name: string): string | undefined {
  return event.headers?.[name];
}

/**
 * The same, of which there may be one alone: where a proxy reads the first and this service the last, the two would see
 * different callers.
 */
export function onlyHeader(event: GatewayEvent, name: string): string | undefined {
  const sent = Object.entries(event.multiValueHeaders ?? {}).filter(([key]) => key.toLowerCase() === name);
  if (sent.flatMap(([, values]) => values ?? []).length > 1)
    throw new Failure("VALIDATION_ERROR", `the header ${name} was sent more than once: send it once`);
  return header(event, name);
}

/** The caller's address as the gateway saw it; what a client says of itself in a header does not count. */
export function sourceAddress(event: GatewayEvent): string {
  const { identity, http } = event.requestContext ?? {};
  return identity?.sourceIp ?? http?.sourceIp ?? "unknown";
}

/** The contract's {base_url} as the caller wrote it, without the scheme: `api.example.com/dev`. Null where nothing says it. */
export function ownAddress({ requestContext }: GatewayEvent): string | null {
  const { domainName = "", path = "" } = requestContext ?? {};
  const end = path.search(/(?<!\/)\/+api\//);
  return domainName === "" || end < 0 ? null : `${domainName}${path.slice(0, end)}`;
}

/** Nothing is ever called so. */
const NOBODY = "none";

/**
 * A part of the path. What no id and no name can be (empty, longer than 255 characters, or with other than visible
 * ASCII) reads as one that nothing has: each room then says itself that it is not there, and no store meets it.
 */
export function pathParameter(event: GatewayEvent, name: string): string {
  const sent = event.pathParameters?.[name] ?? "";
  return /^[\x21-\x7e]{1,255}$/.test(sent) ? sent : NOBODY;
}
