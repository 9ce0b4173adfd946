import type { Command } from "commander";
import type { Does } from "../context.ts";
import { watchOption } from "../watch.ts";

const commands = () => import("../commands/monitoring/monitoring.ts");

/** `bridge health`, `activity`, `row`, `errors`, `conflicts`, `inbound-errors`, `budget`, `audit`. */
export function addMonitoringCommands(program: Command, does: Does): void {
  program
    .command("health")
    .description("check both sides and the engine; exit code 10 if something is wrong")
    .addOption(watchOption())
    .action(does(async () => (await commands()).health));
  paged(program.command("activity").description("changes of rows and their results, newest first"))
    .option("--state <state>", "NEW, PENDING, SUCCESS or FAILED")
    .option("--table <name>", "only this table")
    .option("--sfid <id>", "only the row of this record")
    .option("--row <key>", "only the row with this key")
    .option("--key <value>", "only the row with this upsert value")
    .option("-f, --follow", "keep showing new changes")
    .addOption(watchOption())
    .action(does(async () => (await import("../commands/monitoring/activity.ts")).activity));
  program
    .command("row <mapping> <key>")
    .description(
      "show what happened to one row and what both sides hold now; find it by record id, own key or upsert value",
    )
    .option("--set <column=value...>", "write columns of the row and wait for Salesforce's answer; column= writes NULL")
    .option("--restore", "bring back a row that was deleted on either side")
    .addOption(watchOption())
    .action(does(async () => (await import("../commands/monitoring/row.ts")).row));
  paged(program.command("errors").description("rows that Salesforce refused, newest first"))
    .option("--table <name>", "only this table")
    .option("--grouped", "one line per kind of failure")
    .option("--retry [id]", "retry one, or all of them; with --fingerprint all of that kind")
    .option("--dismiss [id]", "dismiss one or all; with --fingerprint or --table only those")
    .option("--fingerprint <fingerprint>", "one kind of failure, as --grouped shows it")
    .option("-y, --yes", "do not ask")
    .addOption(watchOption())
    .action(does(async () => (await import("../commands/monitoring/errors.ts")).errors));
  paged(program.command("inbound-errors").description("records that could not become rows"))
    .option("--mapping <mapping>", "only this mapping")
    .option("--retry [sfid]", "with --mapping: read one record again, or all that could not become rows")
    .addOption(watchOption())
    .action(does(async () => (await commands()).inboundErrors));
  paged(program.command("conflicts").description("fields that changed on both sides, and which side won"))
    .option("--mapping <mapping>", "only this mapping")
    .option(
      "--use-other <id>",
      "write the losing value into the row, if it still has the winning one; the change is sent",
    )
    .addOption(watchOption())
    .action(does(async () => (await commands()).conflicts));
  program
    .command("budget")
    .description("the org's API calls: used, left, what a day will cost, and how many Bridge may use")
    .option("--share <percent>", "let Bridge use this share of the org's calls a day, such as 60%")
    .option("--at-most <calls>", "most calls per day, in addition to the share; none: no such limit")
    .option(
      "--when-quiet <seconds>",
      "seconds between polls of mappings that had no change for five minutes; none: as often as others",
    )
    .addOption(watchOption())
    .action(does(async () => (await commands()).budget));
  paged(program.command("audit").description("who did what, newest first"))
    .option("--actor <email>", "only this person")
    .option("--action <action>", "only this action, such as mapping.created")
    .option("--csv", "all that match, as CSV")
    .addOption(watchOption())
    .action(does(async () => (await commands()).audit));
}

function paged(command: Command): Command {
  return command.option("--limit <rows>", "most entries to show").option("--offset <rows>", "entries to skip");
}
