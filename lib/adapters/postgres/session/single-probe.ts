import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { DatabaseUnavailable, type SilentDatabases } from "../../../monitoring/ports.ts";
import { closeQuietly } from "./idle-sessions.ts";
import type { Session } from "./sql.ts";

/** A database that has not let in within this counts as silent, until one request has been let in. */
const SLOW_MILLISECONDS = 4_000;

/** As long as the attempt of that request takes, and some seconds without one. */
const SILENT_MILLISECONDS = 15_000;

export type SingleProbe = (url: string, open: () => Promise<Session>) => Promise<Session>;

type Wait = (milliseconds: number, value: "late", until: { readonly signal: AbortSignal }) => Promise<string>;

/**
 * Opens a session, but of a database that does not answer one alone over all processes: requests that come meanwhile, and
 * for some seconds after, are refused at once, so that they do not hold a function each until the attempt is given up.
 */
export const singleProbe =
  (silent: SilentDatabases, now: () => Date, wait: Wait = pause): SingleProbe =>
  async (url, open) => {
    const name = nameOf(url);
    const opening = open();
    const ended = opening.then(
      () => "ended",
      () => "ended",
    );
    const known = silent.until(name).then((until) => (until > now().getTime() ? "silent" : ended));
    const timer = new AbortController();
    const late = wait(SLOW_MILLISECONDS, "late", timer).catch(() => "ended");
    const seen = await Promise.race([ended, known, late]);
    timer.abort();
    const at = now().getTime();
    if (seen === "silent" || (seen === "late" && !(await silent.claim(name, at, at + SILENT_MILLISECONDS)))) {
      opening.then(closeQuietly, () => undefined);
      throw new DatabaseUnavailable("connect", "it does not answer, and one request waits for it already", null, true);
    }
    const session = await opening;
    if (seen === "late") await silent.end(name);
    return session;
  };

/** The database and its user, without the password. */
function nameOf(url: string): string {
  const named = new URL(url);
  named.password = "";
  return createHash("sha256").update(named.href).digest("hex");
}
