import { execFileSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { end, identityOf } from "../process-identity.ts";

/** What ends a server: closing its sessions, else at once, else by force. None of them loses what was committed. */
export const END_SIGNALS = ["SIGINT", "SIGQUIT", "SIGKILL"] as const;

/**
 * Makes the folder of the databases free to be started: ends a server that a killed process left on it, and removes a
 * pid file whose number belongs to another process by now, which PostgreSQL would refuse.
 */
export async function endOrphan(folder: string): Promise<void> {
  const file = join(folder, "postmaster.pid");
  const pid = pidIn(file);
  if (pid === null) return;
  const identity = identityOf(pid);
  if (identity && commandOf(pid).includes(folder)) await end(identity, END_SIGNALS);
  rmSync(file, { force: true });
}

function pidIn(file: string): number | null {
  try {
    const pid = Number.parseInt(readFileSync(file, "utf8"), 10);
    return pid > 0 ? pid : null;
  } catch {
    return null; // it was shut down properly
  }
}

function commandOf(pid: number): string {
  try {
    if (process.platform === "linux") return readFileSync(`/proc/${pid}/cmdline`, "utf8");
    return execFileSync("ps", ["-o", "command=", "-p", String(pid)], { encoding: "utf8" });
  } catch {
    return ""; // it has just ended
  }
}
