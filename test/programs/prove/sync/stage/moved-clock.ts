import { readFileSync, renameSync, writeFileSync } from "node:fs";
import type { Clock } from "../../../../../lib/local/clock.ts";

/** Timers look again this often whether time was moved. */
const LOOK_AGAIN_MILLISECONDS = 200;

/** A clock ahead of the machine's by what a file says, so that all processes of the proof have the same time. */
export interface MovedClock extends Clock {
  /** Moves the time of every process on. */
  advance(seconds: number): void;
  sleep(milliseconds: number): Promise<void>;
}

export function movedClock(file: string): MovedClock {
  const ahead = () => Number(readFileSync(file, "utf8"));
  const now = () => Date.now() + ahead();
  const at: Clock["at"] = (epochMilliseconds, run) => {
    let timer: NodeJS.Timeout;
    const arm = () => {
      const left = epochMilliseconds - now();
      timer = left > 0 ? setTimeout(arm, Math.min(left, LOOK_AGAIN_MILLISECONDS)) : setTimeout(run, 0);
    };
    arm();
    return () => clearTimeout(timer);
  };
  return {
    now,
    at,
    during: (work) => work,
    sleep: (milliseconds) => new Promise((resolve) => at(now() + milliseconds, () => resolve())),
    advance: (seconds) => setMovedClock(file, ahead() + seconds * 1000),
  };
}

/** Readers see the old figure or the new one, never half of it. */
export function setMovedClock(file: string, aheadMilliseconds: number): void {
  writeFileSync(`${file}.new`, String(aheadMilliseconds));
  renameSync(`${file}.new`, file);
}
