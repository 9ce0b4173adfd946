import type { Command } from "commander";
import type { Does } from "../context.ts";
import { watchOption } from "../watch.ts";

const commands = () => import("../commands/monitoring/monitoring.ts");

/** `bridge health`, `activity`, `errors`, `conflicts`, `inbound-errors`, `budget`, `audit`. */
export function addMonitoringCommands(program: Command, does: Does): void {
  program
    .command("health")
    .description("both sides and the engine; exit code 10 when something is not well")
    .addOption(watchOption())
    .action(does(async () => (await commands()).health));
  paged(program.command("activity").description("changes of rows and what came of them, newest first"))
    .option("--state <state>", "NEW, PENDING, SUCCESS or FAILED")
    .option("--table <name>", "one table's")
    .option("-f, --follow", "go on showing new ones")
    .addOption(watchOption())
    .action(does(async () => (await import("../commands/monitoring/activity.ts")).activity));
  paged(program.command("errors").description("rows that Salesforce refused, newest first"))
    .option("--table <name>", "one table's")
    .option("--grouped", "one line per kind of failure")
    .option("--retry [id]", "try one again, or all of them; with --fingerprint all of that kind")
    .option("--fingerprint <fingerprint>", "one kind of failure, as --grouped shows it")
    .option("-y, --yes", "do not ask")
    .addOption(watchOption())
    .action(does(async () => (await import("../commands/monitoring/errors.ts")).errors));
  paged(program.command("inbound-errors").description("records that could not become rows"))
    .option("--mapping <mapping>", "one mapping's")
    .addOption(watchOption())
    .action(does(async () => (await commands()).inboundErrors));
  paged(program.command("conflicts").description("fields that changed on both sides, and who won"))
    .option("--mapping <mapping>", "one mapping's")
    .addOption(watchOption())
    .action(does(async () => (await commands()).conflicts));
  program
    .command("budget")
    .description("the org's API calls: used, left, and what a day will cost")
    .addOption(watchOption())
    .action(does(async () => (await commands()).budget));
  paged(program.command("audit").description("who did what, newest first"))
    .option("--actor <email>", "one person's")
    .option("--action <action>", "one kind, like mapping.created")
    .option("--csv", "all that match, as CSV")
    .addOption(watchOption())
    .action(does(async () => (await commands()).audit));
}

function paged(command: Command): Command {
  return command.option("--limit <rows>", "at most so many").option("--offset <rows>", "skip so many");
}
