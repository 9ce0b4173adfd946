import { SalesforceRefusal } from "../../model/change/refusal.ts";
import { guardedLookup, refusedLiteral } from "../../network/guarded-dns.ts";

type FetchInit = NonNullable<Parameters<typeof globalThis.fetch>[1]>;
type Dispatcher = NonNullable<FetchInit["dispatcher"]>;

/** What a caller decides of a request. Where its connection goes, and that it goes nowhere else, is decided here. */
type GuardedInit = Omit<FetchInit, "redirect" | "dispatcher" | "headers"> & {
  readonly headers?: Readonly<Record<string, string>>;
  readonly redirect?: never;
  readonly dispatcher?: never;
};
type MakeDispatcher = new (
  options: Dispatcher | { readonly connect: { readonly lookup: typeof guardedLookup } },
) => Dispatcher;

/**
 * The runtime's fetch, which connects to no address that the service does not connect to. Behind a proxy of the
 * operator's (`NODE_USE_ENV_PROXY`) the proxy connects, and judges. An answer of 300 to 399 rejects with a
 * `SalesforceRefusal`: the tenant chooses the host that answers, so a redirect could lead past the guard.
 */
export async function guardedFetch(url: string, init: GuardedInit): Promise<Response> {
  const refused = refusedLiteral(new URL(url).hostname);
  if (refused) throw new TypeError("fetch failed", { cause: refused });
  const dispatcher = guarded();
  const headers = { "accept-encoding": "gzip", ...init.headers };
  const response = await fetch(url, { ...init, headers, redirect: "manual", ...(dispatcher && { dispatcher }) });
  const encoding = response.headers.get("content-encoding") ?? "gzip";
  const isRedirect = response.status >= 300 && response.status < 400;
  if (!isRedirect && /^(?:gzip|identity)$/i.test(encoding)) return response;
  await response.body?.cancel();
  if (!isRedirect) throw otherwiseEncoded(url, encoding);
  throw redirected(url, response.status, response.headers.get("location"));
}

/** Node inflates `deflate` ahead of its reader: a megabyte becomes a gigabyte before a limit is met. */
function otherwiseEncoded(url: string, encoding: string): SalesforceRefusal {
  const message = `${new URL(url).host} answered in the encoding ${encoding.slice(0, 40)}, which was not asked for`;
  return new SalesforceRefusal({ kind: "transient", code: "BROKEN_ANSWER", message, mayHaveRun: true });
}

/** Shows the hosts alone: paths and queries may hold secrets. Salesforce redirects before it runs a request. */
function redirected(url: string, status: number, location: string | null): SalesforceRefusal {
  const target = location === null ? null : URL.parse(location, url);
  const { host } = new URL(url);
  const message =
    `${host} answered with a redirect (${status}) to ${target?.host || "no address that can be read"}, which is not followed; ` +
    "connect the workspace to Salesforce again, with the org's own My Domain URL (https://….my.salesforce.com) as login URL";
  return new SalesforceRefusal({ kind: "session", code: "REDIRECTED", message, mayHaveRun: false });
}

let made: { readonly dispatcher: Dispatcher | null } | null = null;

function guarded(): Dispatcher | null {
  made ??= { dispatcher: makeDispatcher() };
  return made.dispatcher;
}

/**
 * Node offers its own client's class nowhere else than by its instance (undici, `getGlobalDispatcher`). A newer undici,
 * as jsforce brings one along outside of bundles, takes that place and wraps its own client for Node's fetch.
 */
function makeDispatcher(): Dispatcher | null {
  new Headers(); // loads the client, which Node does when it is first needed
  const nodes = classOf("undici.globalDispatcher.1");
  const newer = classOf("undici.globalDispatcher.2");
  const options = { connect: { lookup: guardedLookup } };
  if (nodes?.name === "EnvHttpProxyAgent") return null;
  if (nodes?.name === "Agent") return new nodes(options);
  if (nodes && newer?.name === "Agent") return new nodes(new newer(options));
  throw new Error("this Node has no HTTP client with a look-up of its own");
}

function classOf(symbol: string): MakeDispatcher | null {
  const instance: unknown = Reflect.get(globalThis, Symbol.for(symbol));
  return typeof instance === "object" && instance !== null ? (instance.constructor as MakeDispatcher) : null;
}
