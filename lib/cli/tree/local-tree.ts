import type { Command } from "commander";
import type { Does } from "../context.ts";

const commands = () => import("../commands/local.ts");

/** `bridge sql`, `soql`, `demo`: the instance on this machine, without clients of your own. */
export function addLocalCommands(program: Command, does: Does): void {
  program
    .command("sql <statement>")
    .description("statements for the PostgreSQL of the instance on this machine, as its role bridge")
    .action(does(async () => (await commands()).sql));
  program
    .command("soql <query>")
    .description("a query for the Salesforce org of the instance on this machine")
    .action(does(async () => (await commands()).soql));
  program
    .command("demo [action]")
    .description("the writer that changes sample rows of the instance on this machine: status, stop or start")
    .action(does(async () => (await commands()).demo));
}
