import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const LOADED = join(import.meta.dirname, "watch-sockets.ts");

/** Watches where the processes that get this environment connect to. */
export function watchSockets() {
  const file = join(mkdtempSync(join(tmpdir(), "bridge-sockets-")), "hosts");
  return {
    environment: { NODE_OPTIONS: `--import ${LOADED}`, WATCHED_SOCKETS: file },
    /** Each host once, sockets of this file system left out. */
    hosts: (): readonly string[] => {
      const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
      return [...new Set(lines)].filter((host) => !host.startsWith("/")).sort();
    },
  };
}
