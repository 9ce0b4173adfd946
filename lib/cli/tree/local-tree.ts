import type { Command } from "commander";
import type { Does } from "../context.ts";

const commands = () => import("../commands/local.ts");

/** `bridge sql`, `soql`, `demo`: the instance on this machine, without clients of your own. */
export function addLocalCommands(program: Command, does: Does): void {
  program
    .command("sql <statement>")
    .description("run SQL statements in the PostgreSQL of the instance on this machine, as its role bridge")
    .action(does(async () => (await commands()).sql));
  program
    .command("soql <query>")
    .description("run a query in the Salesforce org of the instance on this machine")
    .action(does(async () => (await commands()).soql));
  program
    .command("demo [action]")
    .description("show, stop or start the writer that changes sample rows on this machine: status, stop, start")
    .action(does(async () => (await commands()).demo));
}
