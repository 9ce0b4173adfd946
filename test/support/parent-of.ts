import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** The pid of a process's parent. */
export function parentOf(pid: number): number {
  if (process.platform !== "linux") {
    return Number(execFileSync("ps", ["-o", "ppid=", "-p", String(pid)], { encoding: "utf8" }));
  }
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}
