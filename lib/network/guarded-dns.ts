import { lookup as systemLookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";

/** What an address is that must not be connected to, `a private address (RFC 1918)`; null: it may be. */
export type RefuseAddress = (address: string) => string | null;

/** A connection to a customer's database or org that was not made, because of where its host leads. */
export class HostRefused extends Error {
  readonly code = "EHOSTREFUSED";

  constructor(host: string, what: string) {
    super(
      `the host ${host} points to ${what}, where this service does not connect to; ` +
        "the operator can open a private network's range (openedRanges)",
    );
    this.name = "HostRefused";
  }
}

/** Nothing is reached before a guard is set. */
let refuse: RefuseAddress = () => "an address before its guard is set";

/** From now on this process connects to databases and orgs only at addresses that `by` does not refuse. */
export function guardConnections(by: RefuseAddress): void {
  refuse = by;
}

/** Why a host that is written as an address must not be connected to; null for names, which the look-up judges. */
export function refusedLiteral(host: string): HostRefused | null {
  const literal = host.replace(/^\[|\]$/g, "");
  const what = isIP(literal) === 0 ? null : refuse(literal);
  return what === null ? null : new HostRefused(host, what);
}

/**
 * The system's look-up for one connection, which gives none of a name's addresses when one of them must not be reached:
 * what is judged is what is connected to, so a name that was good when it was saved may not lead elsewhere later.
 */
export const guardedLookup: LookupFunction = (hostname, options, callback) => {
  systemLookup(hostname, { ...options, all: true }, (error, addresses) => {
    const what = error ? null : addresses.map(({ address }) => refuse(address)).find((found) => found !== null);
    const [first] = addresses ?? [];
    if (error) callback(error, []);
    else if (what) callback(new HostRefused(hostname, what), []);
    else if (options.all || !first) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};
