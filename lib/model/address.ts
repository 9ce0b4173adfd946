/** Where requests on a customer's word may go: webhooks, and the databases and orgs of connections. */
export interface AddressPolicy {
  /** Schemes with their colon, `https:`. */
  readonly schemes: readonly string[];
  /** Null: any port. */
  readonly ports: readonly number[] | null;
  /** Loopback addresses and the name `localhost` may be reached. */
  readonly loopback: boolean;
  /** CIDR ranges that the operator opens although they are not public. */
  readonly opened: readonly string[];
}

/** HTTPS to public addresses on port 443 (contract 6.4.3). */
export const PRODUCTION: AddressPolicy = { schemes: ["https:"], ports: [443], loopback: false, opened: [] };

/** Also plain HTTP, any port, and this very machine. */
export const DEVELOPMENT: AddressPolicy = { schemes: ["https:", "http:"], ports: null, loopback: true, opened: [] };

/** A range that nothing of ours may connect to, and what it is, in the words of the refusal. */
export interface BlockedRange {
  readonly range: string;
  readonly what: string;
}

/** Refused whatever is opened: AWS's services of each machine, its credentials among them, by IPv6. */
export const METADATA = { range: "fd00:ec2::/32", what: "a metadata address" } as const;

export const LOOPBACK = "a loopback address";

/**
 * IANA's special-purpose registry for IPv4, globally reachable entries included, multicast and reserved space. Of public
 * addresses Azure's platform service alone, which each machine there reaches as its own.
 */
export const BLOCKED_IPV4: readonly BlockedRange[] = [
  { range: "0.0.0.0/8", what: "an unspecified address" },
  { range: "10.0.0.0/8", what: "a private address (RFC 1918)" },
  { range: "100.64.0.0/10", what: "a carrier's shared address (RFC 6598)" },
  { range: "127.0.0.0/8", what: LOOPBACK },
  { range: "169.254.0.0/16", what: "a link-local or metadata address" },
  { range: "168.63.129.16/32", what: "Azure's platform service" },
  { range: "172.16.0.0/12", what: "a private address (RFC 1918)" },
  { range: "192.0.0.0/24", what: "an address reserved for protocols" },
  { range: "192.0.2.0/24", what: "a documentation address" },
  { range: "192.31.196.0/24", what: "an address of AS112 (RFC 7535)" },
  { range: "192.52.193.0/24", what: "a multicast tunnel's address (RFC 7450)" },
  { range: "192.88.99.0/24", what: "a 6to4 relay address" },
  { range: "192.168.0.0/16", what: "a private address (RFC 1918)" },
  { range: "192.175.48.0/24", what: "an address of AS112 (RFC 7534)" },
  { range: "198.18.0.0/15", what: "a benchmarking address" },
  { range: "198.51.100.0/24", what: "a documentation address" },
  { range: "203.0.113.0/24", what: "a documentation address" },
  { range: "224.0.0.0/4", what: "a multicast address" },
  { range: "240.0.0.0/4", what: "a reserved or broadcast address" },
];

/** IPv6 that may be reached lies in here, and in none of the blocked ranges. */
export const GLOBAL_IPV6 = "2000::/3";

/** The most specific range comes first; all outside global unicast is refused anyway. */
export const BLOCKED_IPV6: readonly BlockedRange[] = [
  { range: "::1/128", what: LOOPBACK },
  { range: "::/128", what: "an unspecified address" },
  { range: "::/96", what: "an IPv4-compatible address" },
  { range: "64:ff9b::/96", what: "a NAT64 address" },
  { range: "64:ff9b:1::/48", what: "a NAT64 address" },
  { range: "100::/64", what: "a discard address" },
  { range: "2001::/32", what: "a Teredo address" },
  { range: "2001:db8::/32", what: "a documentation address" },
  { range: "2001::/23", what: "an address reserved for protocols" },
  { range: "2002::/16", what: "a 6to4 address" },
  { range: "2620:4f:8000::/48", what: "an address of AS112 (RFC 7534)" },
  { range: "3fff::/20", what: "a documentation address" },
  { range: "5f00::/16", what: "a segment-routing address" },
  METADATA,
  { range: "fc00::/7", what: "a private address (RFC 4193)" },
  { range: "fe80::/10", what: "a link-local address" },
  { range: "ff00::/8", what: "a multicast address" },
];

/** What an operator can open: private ranges, and those that networks of clouds use like private ones. */
const OPENABLE = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "198.18.0.0/15", "fc00::/7"];

/** Why a CIDR range can't be opened, a sentence without its full stop; null when it can. */
export function refuseOpening(range: string): string | null {
  const asked = bitsOf(range);
  if (asked === null) return `"${range}" is not a range of addresses like 10.0.0.0/16`;
  const isIn = (outer: string) => asked.startsWith(bitsOf(outer) ?? "-");
  if (OPENABLE.some(isIn) && !isIn(METADATA.range)) return null;
  const { what } = [...BLOCKED_IPV4, ...BLOCKED_IPV6].find((blocked) => isIn(blocked.range)) ?? {};
  const why = what ? `it is ${what}` : "it is not private, and public addresses are reached without it";
  return `${range} can't be opened: ${why}. Only private ranges can: ${OPENABLE.join(", ")} and what lies in them`;
}

/** The bits that a range fixes, `4:00001010` for 10.0.0.0/8; null for what is no range. */
function bitsOf(range: string): string | null {
  const [, address = "", length = ""] = /^([\d.]+|[\da-f:]*:[\da-f:.]*)\/(\d{1,3})$/i.exec(range) ?? [];
  const isIpv6 = address.includes(":");
  const host = URL.parse(isIpv6 ? `http://[${address}]/` : `http://${address}/`)?.hostname.replace(/[[\]]/g, "");
  if (host === undefined || (!isIpv6 && host !== address)) return null; // URLs also read octal and shortened forms
  const bits = isIpv6
    ? ipv6Bits(host)
    : host
        .split(".")
        .map((byte) => binary(Number(byte), 8))
        .join("");
  return Number(length) > bits.length ? null : `${isIpv6 ? 6 : 4}:${bits.slice(0, Number(length))}`;
}

function ipv6Bits(canonical: string): string {
  const [head = [], tail = []] = canonical.split("::").map((half) => half.split(":").filter((group) => group !== ""));
  const groups = [...head, ...Array<string>(8 - head.length - tail.length).fill("0"), ...tail];
  return groups.map((group) => binary(Number.parseInt(group, 16), 16)).join("");
}

const binary = (number: number, digits: number): string => number.toString(2).padStart(digits, "0");

/** The longest URL that is accepted, in characters. */
const URL_CHARACTERS = 2048;

/** A URL as it was understood, or why it is refused, to follow "the URL …". */
export type JudgedUrl =
  | { readonly url: URL; readonly refused: null }
  | { readonly url: null; readonly refused: string };

/** Judges a URL by its text alone. Only the parsed `url` may be used afterwards: what was typed can read differently. */
export function judgeUrl(text: string, policy: AddressPolicy): JudgedUrl {
  if (text.length > URL_CHARACTERS) return refuse(`is longer than ${URL_CHARACTERS} characters`);
  const url = URL.parse(text);
  if (url === null) return refuse("is not an absolute URL like https://example.com/hooks");
  if (!policy.schemes.includes(url.protocol)) return refuse(`must begin with ${schemesOf(policy)}`);
  if (url.username !== "" || url.password !== "") return refuse("must not carry a user name or password");
  if (policy.ports !== null && !policy.ports.includes(portOf(url))) {
    return refuse(`must use port ${policy.ports.join(" or ")}`);
  }
  const name = judgeName(url.hostname, policy);
  return name === null ? { url, refused: null } : refuse(name);
}

/** The port that a URL leads to. */
function portOf(url: URL): number {
  if (url.port !== "") return Number(url.port);
  return url.protocol === "https:" ? 443 : 80;
}

/** Why a host name is refused before it is resolved; null when it is not. Addresses are left to their own check. */
function judgeName(hostname: string, policy: AddressPolicy): string | null {
  const name = hostname.toLowerCase().replace(/(?<!\.)\.+$/, "");
  if (name === "") return "names no host";
  if (isLoopbackName(name)) return policy.loopback ? null : `points to ${LOOPBACK}`;
  if (policy.opened.length > 0 || policy.loopback || isAddress(name)) return null;
  if (!name.includes(".")) return "must name its host in full, like hooks.example.com";
  if (/\.(local|localdomain|internal|intranet|lan|home\.arpa)$/.test(name)) return "names a host of a private network";
  return null;
}

/** `localhost` and all below it mean this machine (RFC 6761). */
export function isLoopbackName(name: string): boolean {
  return /(^|\.)localhost\.*$/i.test(name);
}

function isAddress(name: string): boolean {
  return name.startsWith("[") || /^\d+\.\d+\.\d+\.\d+$/.test(name);
}

function schemesOf(policy: AddressPolicy): string {
  return policy.schemes.map((scheme) => `${scheme}//`).join(" or ");
}

function refuse(refused: string): JudgedUrl {
  return { url: null, refused };
}
