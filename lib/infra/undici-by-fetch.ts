/**
 * What jsforce uses of undici, by the runtime's own fetch, which is undici too. The build puts it in undici's place, which
 * makes the bundles that talk to Salesforce 730 KB smaller and their cold starts shorter. HTTP proxies of jsforce's own are not offered: Node's are
 * (`NODE_USE_ENV_PROXY`).
 */
export const Response = globalThis.Response;

/** The runtime's connections are shared, so there is nothing to configure. */
export class Agent {}

/** Refuses: a connection through jsforce's own `httpProxy` is not part of the bundle. */
export class ProxyAgent {
  constructor() {
    throw new Error("jsforce's httpProxy is not supported: set NODE_USE_ENV_PROXY=1 and HTTPS_PROXY instead");
  }
}

/** The class jsforce asks `instanceof` of; the runtime's own error is recognised by its name. */
export const errors = {
  SocketError: class SocketError extends Error {
    static override [Symbol.hasInstance](error: unknown): boolean {
      return error instanceof Error && error.name === "SocketError";
    }
  },
};

/** The runtime's fetch, without the dispatcher that jsforce hands over. */
export function fetch(url: string, { dispatcher: _, ...options }: RequestInit & { dispatcher?: unknown }) {
  return globalThis.fetch(url, options);
}
