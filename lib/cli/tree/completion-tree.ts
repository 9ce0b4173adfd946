import type { Command } from "commander";
import type { Does } from "../context.ts";

const commands = () => import("../commands/completion.ts");

/** `bridge completion`, and what the shell asks at each Tab. Both speak of all commands, so they are added last. */
export function addCompletionCommands(program: Command, does: Does): void {
  program
    .command("completion <shell>")
    .description("print what makes bash, zsh or fish complete commands, options, mappings and files")
    .action(does(async () => (await commands()).printCompletion));
  program
    .command("complete [words...]", { hidden: true })
    .description("what can complete the last word; the shell asks this")
    .action(does(async () => (await commands()).completeWords(program)));
}
