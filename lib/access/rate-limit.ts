import { Failure } from "../model/failure.ts";
import type { RateLimits } from "./ports.ts";

/** Requests that one address may make in a minute (contract 8). */
export const REQUESTS_PER_MINUTE = 300;

/**
 * Counts a request of `source` and gives the headers with the caller's quota (draft-ietf-httpapi-ratelimit-headers-10);
 * refuses with RATE_LIMITED beyond the limit, until the minute is over. The requests of each policy are counted
 * separately.
 */
export async function countRequest(
  rateLimits: RateLimits,
  limit: number,
  source: string,
  at: Date,
  policy = "default",
): Promise<Readonly<Record<string, string>>> {
  const requests = await rateLimits.count(
    policy === "default" ? windowKey(source) : `${policy} ${windowKey(source)}`,
    at,
  );
  const secondsLeft = 60 - (Math.floor(at.getTime() / 1000) % 60);
  const headers = {
    "RateLimit-Policy": `"${policy}";q=${limit};w=60`,
    RateLimit: `"${policy}";r=${Math.max(0, limit - requests)};t=${secondsLeft}`,
  };
  if (requests <= limit) return headers;
  if (policy === "default") markRefused(minuteOf(source, at));
  throw new Failure(
    "RATE_LIMITED",
    `more than ${limit} requests in this minute${policy === "default" ? " from your address" : ""}: try again in ${secondsLeft} s`,
    { headers: { ...headers, "Retry-After": String(secondsLeft) } },
  );
}

/** Whether this process has refused a request of `source` in this minute, so that nothing need be done for the next. */
export const isRefused = (source: string, at: Date): boolean => refused.has(minuteOf(source, at));

const minuteOf = (source: string, at: Date): string => `${windowKey(source)} ${Math.floor(at.getTime() / 60_000)}`;

const refused = new Set<string>();

/** Sources and minutes that one process caches at most. */
const MOST_REFUSED = 10_000;

function markRefused(minute: string): void {
  if (refused.size >= MOST_REFUSED) refused.clear();
  refused.add(minute);
}

/** Whom an address is counted as: an IPv4 address for itself, an IPv6 address with its whole /64, which one host has. */
export function windowKey(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped?.[1]) return mapped[1];
  if (!address.includes(":")) return address;
  const [before = "", after] = address.toLowerCase().split("%")[0]?.split("::") ?? [];
  const left = before === "" ? [] : before.split(":");
  const right = after === undefined || after === "" ? [] : after.split(":");
  const zeros = after === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  const groups = [...left, ...Array.from({ length: zeros }, () => "0"), ...right];
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":")}::/64`;
}
