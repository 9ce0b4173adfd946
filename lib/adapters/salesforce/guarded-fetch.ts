import { guardedLookup, refusedLiteral } from "../reach.ts";

type Fetch = typeof globalThis.fetch;
type Dispatcher = NonNullable<NonNullable<Parameters<Fetch>[1]>["dispatcher"]>;
type MakeDispatcher = new (
  options: Dispatcher | { readonly connect: { readonly lookup: typeof guardedLookup } },
) => Dispatcher;

/**
 * The runtime's fetch, which connects to no address that the service does not connect to. Behind a proxy of the
 * operator's (`NODE_USE_ENV_PROXY`) the proxy connects, and judges.
 */
export const guardedFetch = (url: string, init: NonNullable<Parameters<Fetch>[1]>): Promise<Response> => {
  const refused = refusedLiteral(new URL(url).hostname);
  if (refused) return Promise.reject(new TypeError("fetch failed", { cause: refused }));
  const dispatcher = guarded();
  return fetch(url, dispatcher ? { ...init, dispatcher } : init);
};

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
  throw new Error("this Node has no HTTP client that a look-up can be given to");
}

function classOf(symbol: string): MakeDispatcher | null {
  const instance: unknown = Reflect.get(globalThis, Symbol.for(symbol));
  return typeof instance === "object" && instance !== null ? (instance.constructor as MakeDispatcher) : null;
}
