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
    .description("what importing a document would change, with old and new values; changes nothing")
    .action(does(async () => (await commands()).planConfig));
  config
    .command("import <file>")
    .description("change the mappings to what a document says; - reads standard input")
    .option("--dry-run", "show what would change, and change nothing")
    .action(does(async () => (await commands()).importConfig));
  config
    .command("baseline")
    .description("pin the configuration as it is")
    .action(does(async () => (await commands()).saveBaseline));
  config
    .command("drift")
    .description("differences from the baseline; exit code 10 when there are any")
    .action(does(async () => (await commands()).readDrift));
  program
    .command("migrate")
    .description("move here from another product")
    .command("heroku-connect <file>")
    .description(
      "adopt what Heroku Connect has been writing, by its export (`heroku connect:export`); - reads standard input",
    )
    .option("--dry-run", "check both sides, show the plan, change nothing")
    .option("--rehearse", "carry the move out on a copy of the database, Salesforce only read, and report")
    .option("--database-url-file <file>", "with --rehearse: the copy's URL; - reads standard input")
    .option("--stage <name>", "with --rehearse: a deployment in AWS, by your credentials; default: this machine")
    .option("-y, --yes", "do not ask before the tables are adopted")
    .addHelpText("after", MIGRATE_HELP)
    .action(does(async () => (await import("../commands/migrate.ts")).migrateHerokuConnect));
}

const MIGRATE_HELP = `
Before: connect both sides (bridge connect postgres --schema NAME, bridge
connect salesforce), and pause Heroku Connect (heroku connect:pause). Then:
  1. looks at both connections, at rights, at what Heroku Connect left and at
     the export, and shows the plan
  2. asks
  3. moves Heroku Connect's log aside; its triggers still capture
  4. imports the mappings: with each table its triggers end, ours begin, and
     the changes that wait become ours
  5. waits until every mapping has its table, and says what to check
Interrupted anywhere, the same command continues from there. The result of each
change, and the way back: lib/heroku-connect/HEROKU-CONNECT.md`;
