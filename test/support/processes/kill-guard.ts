import { readdirSync, readFileSync } from "node:fs";

/** Whether this machine lets a test see who started whom. */
export const canKillGuards = process.platform === "linux";

/** Kills the shells that guard a program, so that nothing but the next start can end it once its owner is killed too. */
export function killGuard(program: number): void {
  const guard = parentOf(program);
  const watchers = readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0 && pid !== program && parentOf(pid) === guard);
  for (const pid of [...watchers, guard]) process.kill(pid, "SIGKILL");
}

function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return 0; // it ended while we looked
  }
}
