import { setTimeout as pause } from "node:timers/promises";
import { Option } from "commander";
import { contextOf, type Surroundings, type Typed, type Work, wholeNumber } from "./context.ts";
import { CommandFailure, type ExitKind } from "./failure.ts";
import { asItIs } from "./terminal.ts";
import { oneLine } from "./width.ts";

/** Between two looks unless `--watch` says otherwise: of the 300 requests that a minute has, most are left. */
const SECONDS = 5;

/** An option for commands that only look. */
export const watchOption = (): Option =>
  new Option("--watch [seconds]", `look again every so many seconds (${SECONDS}), until Ctrl-C`).conflicts([
    "follow",
    "retry",
    "wait",
    "csv",
    "set",
    "restore",
  ]);

/** A service that does not answer for a while, or refuses what is too much, is looked at again. */
const PASSES: ReadonlySet<ExitKind> = new Set(["unreachable", "rateLimited", "fault"]);

/** Does a command's work again and again until Ctrl-C, each answer in place of the last one where a person looks on. */
export async function watch(work: Work, surroundings: Surroundings, typed: Typed): Promise<void> {
  const { stdout, interrupted } = surroundings.terminal;
  const seconds = typed.options["watch"] === true ? SECONDS : wholeNumber(typed, "watch");
  if (seconds === null || seconds === 0) throw new CommandFailure("invalid", "--watch takes seconds, from 1 on");
  for (let isFirst = true; ; isFirst = false) {
    const shown: string[] = [];
    const { isTTY = false, columns = 80 } = stdout;
    const kept = { write: (text: string) => shown.push(text), isTTY, columns };
    const terminal = { ...surroundings.terminal, stdout: isTTY ? kept : stdout };
    const passing = await work(contextOf({ ...surroundings, terminal }, typed)).catch((error: unknown) => {
      if (isFirst || interrupted.aborted || !(error instanceof CommandFailure) || !PASSES.has(error.kind)) throw error;
      return error;
    });
    if (passing) surroundings.terminal.stderr.write(`bridge: ${oneLine(passing.message)}\n`);
    if (isTTY && !passing)
      stdout.write(`${asItIs("\u001b[H\u001b[2J")}${shown.join("")}every ${seconds} s, Ctrl-C ends\n`);
    await pause(seconds * 1000, undefined, { signal: interrupted });
  }
}
