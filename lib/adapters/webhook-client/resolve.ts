import { Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import { isLoopbackName } from "../../model/address.ts";

/** Finds a name's addresses, IPv4 first. Rejects with the code of the DNS (`ENOTFOUND`), or when `signal` aborts. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

/**
 * Asks the DNS servers, those of the machine unless `servers` (`address:port`) are given. It does not ask the system's
 * own resolver, because that blocks one of a few threads for as long as a dead DNS server is silent.
 */
export function resolveByDns(servers?: readonly string[]): Resolve {
  return async (name, signal) => {
    signal.throwIfAborted();
    const resolver = new Resolver({ timeout: 1000, tries: 3 });
    if (servers) resolver.setServers(servers);
    const cancel = () => resolver.cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
      const found = [ipv4, ipv6].flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
      if (found.length === 0 && ipv4.status === "rejected") throw ipv4.reason;
      return found;
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  };
}

/** The addresses behind a URL's host name: itself when it is one, this machine's for `localhost`, else what `resolve` finds. */
export async function addressesOf(hostname: string, resolve: Resolve, signal: AbortSignal): Promise<readonly string[]> {
  const literal = hostname.replace(/^\[|\]$/g, "");
  if (isIP(literal) !== 0) return [literal];
  if (isLoopbackName(hostname)) return ["127.0.0.1", "::1"];
  return resolve(hostname, signal);
}
