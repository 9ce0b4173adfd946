import type { Command } from "commander";
import type { Does } from "../context.ts";

const commands = () => import("../commands/local.ts");

/** `bridge sql`, `soql`: both sides of the instance on this machine, for whoever has no client at hand. */
export function addLocalCommands(program: Command, does: Does): void {
  program
    .command("sql <statement>")
    .description("a statement for the PostgreSQL of the instance on this machine")
    .action(does(async () => (await commands()).sql));
  program
    .command("soql <query>")
    .description("a query for the Salesforce org of the instance on this machine")
    .action(does(async () => (await commands()).soql));
}
