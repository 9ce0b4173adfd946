import type { RateLimits } from "../access/ports.ts";

/** Where a host that runs every function in its own process leaves its counts: `(source, minute) => requests so far`. */
const SEAM = Symbol.for("bridge.countRequest");

/** The host's own counts; null where it keeps none, because its functions are many processes. */
export function hostedRateLimits(): RateLimits | null {
  const count: unknown = Reflect.get(globalThis, SEAM);
  if (typeof count !== "function") return null;
  return { count: async (source, at) => Number(count(source, Math.floor(at.getTime() / 60_000))) };
}
