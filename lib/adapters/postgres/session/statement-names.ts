import { createHash } from "node:crypto";
import { sqlState } from "./sql-errors.ts";

/** What a session prepares at most: each plan takes the server some hundred kilobytes. */
const MOST_NAMED = 60;
const MOST_SEEN = 500;

/** SQLSTATEs of a name that the backend does not know, or knows already: a pooler is between. */
const OF_POOLERS = ["26000", "42P05"];
/** "cached plan must not change result type": the application has changed a table. */
const CHANGED = "0A000";

/** The URLs of which this process knows that: as many as there are workspaces. */
const pooled = new Set<string>();

/** The names of a session's statements, under which the server keeps their plans. */
export function statementNames(url: string) {
  const seen = new Set<string>();
  const named = new Map<string, string>();
  return {
    /** Undefined: it is not prepared. A statement gets its name when it is asked again; equal texts have equal names. */
    nameOf: (text: string): string | undefined => {
      if (pooled.has(url)) return undefined;
      if (named.has(text) || named.size >= MOST_NAMED) return named.get(text);
      if (seen.delete(text)) named.set(text, `bridge_${createHash("sha256").update(text).digest("hex").slice(0, 32)}`);
      else if (seen.size < MOST_SEEN) seen.add(text);
      return named.get(text);
    },
    /** Whether an error of a prepared statement ends the use of its session: the next one prepares it again, or none. */
    isOutdated: (error: unknown): boolean => {
      const state = sqlState(error) ?? "";
      if (OF_POOLERS.includes(state)) pooled.add(url);
      return OF_POOLERS.includes(state) || state === CHANGED;
    },
  };
}
