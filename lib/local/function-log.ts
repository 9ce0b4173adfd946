import { join } from "node:path";
import { format } from "node:util";
import { boundedLog } from "./bounded-log.ts";
import { harmless } from "./harmless.ts";
import { lineForPeople } from "./line-for-people.ts";

/** The functions' log lines on one machine, as CloudWatch has them on AWS: every line whole, JSON, in one file. */
export interface FunctionLog {
  readonly file: string;
  write(line: string): void;
  /** Gives the console back. */
  close(): void;
}

/**
 * Keeps what the functions print (they print as on Lambda, to the console) in `<data dir>/bridge.log`, and shows people
 * one short line for what moved or failed. Written at once, so that the last words before a kill are there. A log that
 * cannot be written, on a full disk for one, stops no function: that is shown once, until it can be written again.
 */
export function openFunctionLog(dataDir: string, show: (line: string) => void): FunctionLog {
  const file = join(dataDir, "bridge.log");
  const keep = boundedLog(file);
  let isKept = true;
  const write = (line: string) => {
    const at = new Date();
    const failure = keep(harmless(stamped(line, at)));
    if (failure !== null && isKept) show(`  ${file} cannot be written and misses what happens from now on: ${failure}`);
    isKept = failure === null;
    const short = lineForPeople(line, at);
    if (short !== null) show(short);
  };
  const giveBack = takeConsole((...said) => write(format(...said)));
  return { file, write, close: giveBack };
}

/** JSON lines get the time as their first key; anything else becomes a JSON line. */
function stamped(line: string, at: Date): string {
  const time = JSON.stringify(at.toISOString());
  if (/^\{.*\}$/s.test(line)) return `{"at":${time},${line.slice(1).replaceAll("\n", " ")}`;
  return JSON.stringify({ at: at.toISOString(), message: line });
}

function takeConsole(say: (...said: unknown[]) => void): () => void {
  const names = ["log", "info", "warn", "error", "debug"] as const;
  const before = names.map((name) => console[name]);
  for (const name of names) console[name] = say;
  return () => {
    for (const [index, name] of names.entries()) console[name] = before[index] ?? say;
  };
}
