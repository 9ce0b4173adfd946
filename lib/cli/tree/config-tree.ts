import type { Command } from "commander";
import type { Does } from "../context.ts";

const commands = () => import("../commands/config.ts");

/** `bridge config …` and `bridge migrate heroku-connect`. */
export function addConfigCommands(program: Command, does: Does): void {
  const config = program.command("config").description("all mappings as one document");
  config
    .command("export [file]")
    .description("write the document, sorted and byte-stable")
    .action(does(async () => (await commands()).exportConfig));
  config
    .command("plan <file>")
    .description("show what importing a document would change, with old and new values; changes nothing")
    .action(does(async () => (await commands()).planConfig));
  config
    .command("import <file>")
    .description("create and change mappings as a document says; - reads standard input")
    .option("--dry-run", "show what would change, and change nothing")
    .action(does(async () => (await commands()).importConfig));
  config
    .command("baseline")
    .description("pin the configuration as it is")
    .action(does(async () => (await commands()).saveBaseline));
  config
    .command("drift")
    .description("list differences from the baseline; exit code 10 if there are any")
    .action(does(async () => (await commands()).readDrift));
  program
    .command("migrate")
    .description("move here from another product")
    .command("heroku-connect <file>")
    .description(
      "take over the tables of Heroku Connect, by its export (`heroku connect:export`); - reads standard input",
    )
    .option("--dry-run", "check both sides, show the plan, change nothing")
    .option("--rehearse", "do the whole move on a copy of the database, reading Salesforce only, and report")
    .option("--database-url-file <file>", "with --rehearse: the copy's URL; - reads standard input")
    .option("--stage <name>", "with --rehearse: a deployment in AWS, by your credentials; default: this machine")
    .option("-y, --yes", "do not ask before the tables change hands")
    .addHelpText("after", MIGRATE_HELP)
    .action(does(async () => (await import("../commands/migrate.ts")).migrateHerokuConnect));
}

const MIGRATE_HELP = `
Before: connect both sides (bridge connect postgres --schema NAME, bridge
connect salesforce), and pause Heroku Connect (heroku connect:pause). Then:
  1. checks both connections, the rights, the state of Heroku Connect's tables
     and the export, and shows the plan
  2. asks for confirmation
  3. moves Heroku Connect's log aside; its triggers still capture
  4. imports the mappings: each table gets Bridge's triggers instead of Heroku
     Connect's, and Bridge sends the changes that wait
  5. waits until every mapping has its table, and says what to check
If it is interrupted, run it again: it continues where it was. The result of each
change, and the way back: lib/heroku-connect/HEROKU-CONNECT.md`;
