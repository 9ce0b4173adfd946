import type { Query } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { queries } from "./use.ts";

/** Answers on the page that could not be refreshed. */
export interface Outdated {
  /** When the oldest of them was given, in milliseconds. */
  readonly since: number;
  /** Why the last refresh failed. */
  readonly error: Error;
  /** True: other answers on the page are fresh. */
  readonly inPart: boolean;
}

/** Attempts of one refresh that fail before the page says so; a single one may be a deployment or a lost packet. */
const FAILURES = 2;

/** What the page shows although it is old: two attempts to refresh it have failed. Null: everything is fresh. */
export function useOutdated(): Outdated | null {
  const shown = useSyncExternalStore(listen, outdatedText);
  return shown === null ? null : outdated();
}

function outdated(): Outdated | null {
  const shown = queries.getQueryCache().findAll({ type: "active", predicate: ({ state }) => state.data !== undefined });
  const old = shown.filter(isOld).toSorted((one, other) => one.state.dataUpdatedAt - other.state.dataUpdatedAt);
  const [oldest] = old;
  const error = oldest?.state.error ?? oldest?.state.fetchFailureReason;
  if (!oldest || !error) return null;
  return { since: oldest.state.dataUpdatedAt, error, inPart: old.length < shown.length };
}

/** While it is asked again, the previous refusal stays. */
const isOld = ({ state }: Query): boolean => state.status === "error" || state.fetchFailureCount >= FAILURES;

/** A text, so that equal states are one to React. */
function outdatedText(): string | null {
  const now = outdated();
  return now && `${now.since} ${now.inPart} ${now.error.message}`;
}

const listen = (changed: () => void): (() => void) => queries.getQueryCache().subscribe(changed);
