import type { UrlGuard } from "./ports.ts";

/**
 * The guard that also refuses this API itself, which would answer every delivery with 401. `own` is its address without
 * the scheme, `api.example.com/dev`; null where it is unknown.
 */
export function butNotOwn(isSafe: UrlGuard, own: string | null): UrlGuard {
  return async (text) => {
    const url = URL.parse(text);
    const isOwn = own !== null && `${url?.host}${url?.pathname}/`.startsWith(`${own.toLowerCase()}/`);
    return isOwn ? "points to this API itself: name the receiver of your own" : isSafe(text);
  };
}
