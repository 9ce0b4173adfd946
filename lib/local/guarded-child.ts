import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import * as z from "zod/mini";
import { boundedLog } from "./bounded-log.ts";
import { end, identityOf, isRunning, type ProcessIdentity } from "./process-identity.ts";

/** A program to run for as long as this process lives, and no longer. */
export interface Program {
  /** What an operator knows it by. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly environment?: NodeJS.ProcessEnv;
  readonly user?: { readonly uid: number; readonly gid: number };
  /** Where it runs; the folder of this process unless given. */
  readonly folder?: string;
  /** Signals that end it, the gentlest first; the first is also sent when this process dies. */
  readonly endSignals: readonly NodeJS.Signals[];
  /** Stores who runs, so that the next start finds what a killed one left over. */
  readonly pidFile: string;
  /** Keeps what it prints, the latest of it when that is much. */
  readonly logFile: string;
}

/** A running program. */
export interface GuardedChild {
  readonly pid: number;
  /** Resolves once a printed line matches; rejects when the program ends before, with its last words. */
  printed(pattern: RegExp): Promise<void>;
  /** Resolves with the exit code when it has ended; null when a signal ended it. */
  readonly exited: Promise<number | null>;
  /** Ends it and waits for that. */
  stop(): Promise<void>;
}

/**
 * Runs the program behind a shell that holds the read end of a pipe: when this process dies, however it dies, the pipe
 * ends and the shell ends the program. A session of its own keeps a Ctrl-C of the terminal from reaching it before us.
 */
const GUARD = `
umask 077
exec 4<&0
"$@" </dev/null 3>&- 4<&- &
child=$!
echo "$child" >&3
exec 3>&-
{ read -r _ <&4; kill -s "$FIRST_SIGNAL" "$child"; sleep 10; kill -s KILL "$child"; } 2>/dev/null >/dev/null &
watcher=$!
exec 4<&-
wait "$child"
status=$?
kill "$watcher" 2>/dev/null
exit "$status"
`;

/** Starts a program after ending what an earlier, killed owner of the same pid file left running. */
export async function startGuarded(program: Program): Promise<GuardedChild> {
  await endLeftover(program);
  const child = spawned(program);
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once("error", (cause) => reject(new Error(`${program.name} could not be started`, { cause })));
    child.once("close", resolve);
  });
  const lines = linesOf(program, child);
  const pid = process.platform === "win32" ? child.pid : await Promise.race([firstLine(child), exited]);
  if (typeof pid !== "number" || child.exitCode !== null) {
    throw new Error(`${program.name} ended at once: ${lines.last()}`);
  }
  const identity = identityOf(pid) ?? { pid, started: "" };
  writeFileSync(program.pidFile, JSON.stringify(identity), { mode: 0o600 });
  exited.then(
    () => rmSync(program.pidFile, { force: true }),
    () => {},
  );
  return {
    pid,
    exited,
    printed: (pattern) =>
      Promise.race([
        lines.matching(pattern),
        exited.then((code) => {
          throw new Error(`${program.name} ended with ${code ?? "a signal"} before it was ready: ${lines.last()}`);
        }),
      ]),
    async stop() {
      if (process.platform === "win32") child.kill();
      else if (isRunning(identity)) await end(identity, program.endSignals);
      await exited;
    },
  };
}

/** Ends the program that the pid file names, if that very process still runs. */
async function endLeftover({ pidFile, endSignals }: Pick<Program, "pidFile" | "endSignals">): Promise<void> {
  const identity = identityIn(pidFile);
  if (identity && isRunning(identity)) await end(identity, endSignals);
  rmSync(pidFile, { force: true });
}

const identitySchema = z.object({ pid: z.int(), started: z.string() });

function identityIn(pidFile: string): ProcessIdentity | null {
  try {
    return identitySchema.parse(JSON.parse(readFileSync(pidFile, "utf8")));
  } catch {
    return null; // none, or cut short by the owner's death: then the guard has ended the program
  }
}

function spawned({ command, args, environment = process.env, user, folder, endSignals }: Program): ChildProcess {
  if (process.platform === "win32")
    return spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], env: environment });
  const signal = String(endSignals[0] ?? "SIGTERM").replace("SIG", "");
  return spawn("/bin/sh", ["-c", GUARD, "guard", command, ...args], {
    stdio: ["pipe", "pipe", "pipe", "pipe"],
    env: { ...environment, FIRST_SIGNAL: signal },
    detached: true,
    ...(folder && { cwd: folder }),
    ...user,
  });
}

function firstLine(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.stdio[3]?.once("data", (chunk: Buffer) => resolve(Number(chunk.toString("utf8").trim())));
  });
}

/** Follows what a program prints, keeping its last words for an error message. */
function linesOf({ name, logFile }: Program, child: ChildProcess) {
  const append = boundedLog(logFile);
  let isKept = true;
  const keep = (line: string) => {
    const failure = append(line);
    if (failure !== null && isKept) console.error(`what ${name} prints cannot be kept: ${failure}`);
    isKept = failure === null;
  };
  const recent: string[] = [];
  const waiting = new Set<(line: string) => void>();
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue;
    createInterface({ input: stream }).on("line", (line) => {
      keep(line);
      recent.push(line);
      if (recent.length > 20) recent.shift();
      for (const look of waiting) look(line);
    });
  }
  return {
    last: () => recent.join("\n") || "it printed nothing",
    matching: (pattern: RegExp) =>
      new Promise<void>((resolve) => {
        const look = (line: string) => {
          if (!pattern.test(line)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        for (const line of recent) look(line);
      }),
  };
}
