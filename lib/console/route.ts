import { useSyncExternalStore } from "react";

/** Where the reader is: a path and its filters, both behind the hash, so that the server knows one page alone. */
export interface Place {
  /** `/mappings/map_5` */
  readonly path: string;
  readonly query: URLSearchParams;
}

/** The place that the address names now. */
export function usePlace(): Place {
  return placeOf(useSyncExternalStore(listen, () => location.hash));
}

/** The address of a place, for a link. */
export function hrefOf(path: string, query: Readonly<Record<string, string | undefined>> = {}): string {
  const kept = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return `#${path}${kept.length === 0 ? "" : `?${new URLSearchParams(kept)}`}`;
}

/** Goes there; `replace` leaves no step back, as for a filter that is being typed. */
export function go(href: string, how: "push" | "replace" = "push"): void {
  if (how === "push") location.hash = href;
  else location.replace(new URL(href, location.href));
}

/** True when Salesforce sent the browser back here after a sign-in. */
export function isReturn(): boolean {
  const query = new URLSearchParams(location.search);
  return query.has("state") && (query.has("code") || query.has("error"));
}

function listen(changed: () => void): () => void {
  addEventListener("hashchange", changed);
  return () => removeEventListener("hashchange", changed);
}

function placeOf(hash: string): Place {
  const [path = "", query = ""] = hash.replace(/^#/, "").split("?", 2);
  return { path: path.startsWith("/") ? path : "/", query: new URLSearchParams(query) };
}
