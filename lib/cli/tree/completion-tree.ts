import type { Command } from "commander";
import type { Does } from "../context.ts";

const commands = () => import("../commands/completion.ts");

/** `bridge completion`, and what the shell asks at each Tab. Both speak of all commands, so they are added last. */
export function addCompletionCommands(program: Command, does: Does): void {
  program
    .command("completion <shell>")
    .description("print the completion script for bash, zsh or fish: commands, options, mappings and files")
    .action(does(async () => (await commands()).printCompletion));
  program
    .command("complete [words...]", { hidden: true })
    .description("print the words that complete the last one, for the shell")
    .action(does(async () => (await commands()).completeWords(program)));
}
