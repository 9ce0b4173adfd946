import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import {
  type AddressPolicy,
  BLOCKED_IPV4,
  BLOCKED_IPV6,
  type BlockedRange,
  GLOBAL_IPV6,
  LOOPBACK,
  METADATA,
} from "../../model/address.ts";

type Cidr = ReturnType<typeof ipaddr.parseCIDR>;
type Address = ReturnType<typeof ipaddr.process>;

interface Rule {
  readonly cidr: Cidr;
  readonly what: string;
}

interface Rules {
  readonly ipv4: readonly Rule[];
  readonly ipv6: readonly Rule[];
  readonly global: Cidr;
}

let known: Rules | null = null;

/** Read on first use: a bundle that judges no address then needs nothing of this. */
function rules(): Rules {
  known ??= {
    ipv4: BLOCKED_IPV4.map(toRule),
    ipv6: BLOCKED_IPV6.map(toRule),
    global: ipaddr.parseCIDR(GLOBAL_IPV6),
  };
  return known;
}

/**
 * Why an address must not be connected to, `a private address (RFC 1918)`; null when it may be reached. An IPv4-mapped
 * address is judged as the IPv4 address in it. What can't be read is refused.
 */
export function refuseAddress(text: string, policy: AddressPolicy): string | null {
  // ipaddr.js alone would also read octal, hexadecimal and shortened forms.
  if (isIP(text) === 0) return "not an address that can be read";
  const address = ipaddr.process(text);
  const what = specialUse(address);
  if (what !== METADATA.what && policy.opened.some((range) => contains(ipaddr.parseCIDR(range), address))) return null;
  return what === LOOPBACK && policy.loopback ? null : what;
}

function specialUse(address: Address): string | null {
  if (address.kind() === "ipv4") return firstMatch(rules().ipv4, address);
  const what = firstMatch(rules().ipv6, address);
  if (what !== null) return what;
  if (!contains(rules().global, address)) return "not a public address";
  return isIsatap(address) ? "an ISATAP address" : null;
}

function firstMatch(rules: readonly Rule[], address: Address): string | null {
  return rules.find(({ cidr }) => contains(cidr, address))?.what ?? null;
}

/** Interface identifiers that wrap an IPv4 address (RFC 5214). */
function isIsatap(address: Address): boolean {
  const bytes = address.toByteArray();
  return (bytes[8] === 0 || bytes[8] === 2) && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe;
}

function contains([range, bits]: Cidr, address: Address): boolean {
  return range.kind() === address.kind() && address.match(range, bits);
}

function toRule({ range, what }: BlockedRange): Rule {
  return { cidr: ipaddr.parseCIDR(range), what };
}
