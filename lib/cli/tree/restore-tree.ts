import type { Command } from "commander";
import type { Does } from "../context.ts";

const commands = () => import("../commands/restore.ts");

/** `bridge restore …`. */
export function addRestoreCommands(program: Command, does: Does): void {
  const restore = program
    .command("restore")
    .description("decide about unsent changes after PostgreSQL or DynamoDB was restored");
  restore
    .command("plan")
    .description(
      "list the changes that wait for a decision, by mapping; changes nothing; exit code 10 if there are any",
    )
    .action(does(async () => (await commands()).restorePlan));
  restore
    .command("begin")
    .description("declare that both sides were restored to the same time, which Bridge cannot detect")
    .option("-y, --yes", "do not ask")
    .action(does(async () => (await commands()).beginRestore));
  restore
    .command("accept <mapping>")
    .description(
      "decide about a mapping's waiting changes and let it send again; by default each group is decided as the plan says",
    )
    .option("--newer <decision>", "rows whose record Salesforce has changed since: salesforce, ours or leave")
    .option("--only-here <decision>", "rows that Salesforce does not have: ours or leave")
    .option("--proposed <decision>", "new rows that one record equals: salesforce, ours or leave")
    .option("--unclear <decision>", "new rows that several records may be: salesforce, ours or leave")
    .option("--row <key=decision...>", "decide one row differently from its group; several times, or with commas")
    .option("-y, --yes", "do not ask")
    .action(does(async () => (await commands()).acceptRestore));
}
