import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { systemClock } from "./clock.ts";

/** A process that cannot be mistaken for a later one with the same pid. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in the system's own notation. */
  readonly started: string;
}

/** The process under a pid now, or null when there is none (on Windows, where the start is not known, always null). */
export function identityOf(pid: number): ProcessIdentity | null {
  const started = startOf(pid);
  return started === null ? null : { pid, started };
}

/** Whether that very process still runs. */
export function isRunning(identity: ProcessIdentity): boolean {
  return startOf(identity.pid) === identity.started;
}

/**
 * Ends a process that may not be our child: sends one signal after the other, giving it five seconds for each. Resolves
 * when it is gone; throws when even the last signal did not end it.
 */
export async function end(identity: ProcessIdentity, signals: readonly NodeJS.Signals[]): Promise<void> {
  for (const signal of signals) {
    if (!isRunning(identity)) return;
    process.kill(identity.pid, signal);
    if (await isGoneWithin(identity, PATIENCE_MILLISECONDS)) return;
  }
  throw new Error(`process ${identity.pid} does not end; end it by hand`);
}

const PATIENCE_MILLISECONDS = 5_000;
const LOOK_EVERY_MILLISECONDS = 10;

/** The system reports a process's end to its parent alone, so it can only be polled. */
async function isGoneWithin(identity: ProcessIdentity, milliseconds: number): Promise<boolean> {
  const deadline = systemClock.now() + milliseconds;
  while (systemClock.now() < deadline) {
    if (!isRunning(identity)) return true;
    await new Promise((resolve) =>
      systemClock.at(systemClock.now() + LOOK_EVERY_MILLISECONDS, () => resolve(undefined)),
    );
  }
  return false;
}

function startOf(pid: number): string | null {
  if (process.platform === "win32") return null;
  try {
    return process.platform === "linux" ? startOnLinux(pid) : startFromPs(pid);
  } catch {
    return null; // there is no such process
  }
}

/** Field 22 of the process's stat, counted after its name, which may hold spaces. A zombie counts as gone. */
function startOnLinux(pid: number): string | null {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields[0] === "Z" ? null : (fields[19] ?? null);
}

function startFromPs(pid: number): string | null {
  const started = execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).trim();
  return started === "" ? null : started;
}
