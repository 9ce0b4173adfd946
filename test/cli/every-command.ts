import { Readable } from "node:stream";
import type { Command } from "commander";
import type { Terminal } from "../../lib/cli/terminal.ts";

/** Every command that does something, by its words: `mapping list`. */
export function commandsOf(command: Command, before: readonly string[] = []): readonly string[] {
  if (command.commands.length === 0) return [before.join(" ")];
  return command.commands.flatMap((inner) => commandsOf(inner, [...before, inner.name()]));
}

/** A terminal without a user. */
export const silent: Terminal = {
  stdin: Readable.from([]),
  stdout: { write: () => undefined },
  stderr: { write: () => undefined },
  env: {},
  folder: "/",
  interrupted: new AbortController().signal,
};
