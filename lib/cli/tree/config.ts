import type { Command } from "commander";
import type { Does } from "../program.ts";

const commands = () => import("../commands/config.ts");

/** `bridge config …` and `bridge migrate heroku-connect`. */
export function addConfigCommands(program: Command, does: Does): void {
  const config = program.command("config").description("all mappings as one document");
  config
    .command("export [file]")
    .description("write the document, sorted and byte-stable")
    .action(does(async () => (await commands()).exportConfig));
  config
    .command("import <file>")
    .description("make the mappings what a document says; - reads standard input")
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
    .description("adopt the tables of a Heroku Connect export (`heroku connect:export`)")
    .option("--dry-run", "show the steps and what they would change, and change nothing")
    .option("-y, --yes", "do not ask between the steps")
    .action(does(async () => (await import("../commands/migrate.ts")).migrateHerokuConnect));
}
