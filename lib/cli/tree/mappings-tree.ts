import type { Command } from "commander";
import type { Does } from "../context.ts";
import { watchOption } from "../watch.ts";

const commands = () => import("../commands/mapping/mappings.ts");
const held = () => import("../commands/mapping/held-deletes.ts");
const reject = () => import("../commands/mapping/reject-deletes.ts");
const capture = () => import("../commands/mapping/capture-mapping.ts");
const changes = () => import("../commands/mapping/change-mapping.ts");

/** `bridge mapping …`, `bridge poll`, `nudge`, `doorbell`, `abort`. Mappings are named by id or by their object. */
export function addMappingCommands(program: Command, does: Does): void {
  const mapping = program.command("mapping").description("map Salesforce objects to tables");
  mapping
    .command("list")
    .description("all mappings with their states and figures")
    .option("--deleted", "those that were deleted and can be restored")
    .addOption(watchOption())
    .action(does(async () => (await commands()).listMappings));
  mapping
    .command("show <mapping>")
    .description("one mapping: settings, progress, lag, calls a day")
    .option("--wait", "wait until its tables exist and its first load is done")
    .addOption(watchOption())
    .action(does(async () => (await commands()).showMapping));
  settings(mapping.command("create <object>").description("map an object to a table and begin the first load"))
    .option("--table <name>", "table in the workspace's schema (default: the object's name in lower case)")
    .option("--inactive", "create it, but do not start it")
    .action(does(async () => (await changes()).createMapping));
  settings(mapping.command("update <mapping>").description("change the given settings only"))
    .option("--add-field <names...>", "map these fields, too")
    .option("--remove-field <names...>", "no longer map these; their columns stay")
    .action(does(async () => (await changes()).updateMapping));
  for (const [name, does_] of ACTIONS) {
    const command = mapping.command(`${name} <mapping>`).description(does_);
    if (name === "activate") {
      command.option("--digest <digest>", "agree to the result of the mapping's dry run, and begin the first load");
    }
    command.action(does(async () => (await changes()).actOnMapping(name)));
  }
  mapping
    .command("dry-run <mapping>")
    .description("before activating, compare rows with the records of the same key; changes nothing")
    .action(does(async () => (await commands()).dryRun));
  mapping
    .command("capture <mapping>")
    .description("put the triggers back on the table; needs --salesforce or --mine")
    .option("--salesforce", "discard writes that were not captured: read every record again; Salesforce's values win")
    .option("--mine", "keep writes that were not captured: log every row as changed, and send it")
    .option("-y, --yes", "do not ask")
    .action(does(async () => (await capture()).captureMapping));
  mapping
    .command("push-existing <mapping>")
    .description("send rows that have no record in Salesforce yet")
    .action(does(async () => (await changes()).pushExisting));
  mapping
    .command("held-deletes <mapping>")
    .description("deletes beyond the limit, held until an operator confirms or rejects them")
    .option("--limit <rows>", "most entries to show")
    .option("--offset <rows>", "entries to skip")
    .addOption(watchOption())
    .action(does(async () => (await held()).heldDeletes));
  mapping
    .command("confirm-deletes <mapping>")
    .description("carry out held deletes")
    .option("--only <keys>", "some of them, by their keys in held-deletes, with commas between them")
    .option("-y, --yes", "do not ask")
    .action(does(async () => (await held()).confirmDeletes));
  mapping
    .command("reject-deletes <mapping>")
    .description("undo held deletes: insert the rows again, undelete the records")
    .option("--only <keys>", "some of them, by their keys in held-deletes, with commas between them")
    .option("--recreate", "create records again that are gone for good, with other ids; needs an upsert field")
    .option("-y, --yes", "do not ask")
    .action(does(async () => (await reject()).rejectDeletes));
  mapping
    .command("delete <mapping>")
    .description("delete it; the table and its rows stay, and it can be restored")
    .option("-y, --yes", "do not ask")
    .action(does(async () => (await changes()).deleteMapping));
  program
    .command("poll <mapping>")
    .description("run a cycle now, wait for its end and show its result")
    .option("--no-wait", "only ask for it")
    .option("--timeout <seconds>", "longest wait, for a cycle that is already running and for its own (default: 300)")
    .action(does(async () => (await import("../commands/mapping/poll.ts")).pollNow));
  program
    .command("nudge [table]")
    .description(
      "send now what the application has committed, of one table or of all; costs no API call if nothing waits",
    )
    .action(does(async () => (await changes()).nudge));
  program
    .command("doorbell")
    .description(
      "show whether Salesforce's change notifications arrive, for each mapping: off, waiting, alive or dead; exit code 10 if one is dead",
    )
    .option("--prepare <folder>", "write the metadata for the org into a folder, for sf project deploy start")
    .option("--user <username>", "with --prepare: the user as which the org sends its messages")
    .option("--rotate", "create another URL; the former one works for 24 more hours")
    .option("--remove", "disable the URL; all mappings are polled at full pace")
    .addOption(watchOption())
    .action(does(async () => (await import("../commands/doorbell.ts")).doorbell));
  program
    .command("abort <mapping>")
    .description("ask the running cycle to stop at its next batch")
    .action(does(async () => (await changes()).abortPoll));
}

const ACTIONS = [
  ["activate", "start syncing, or continue after a pause"],
  ["deactivate", "pause; changes of rows are still captured"],
  ["reload", "read every record again"],
  ["compare", "compare both sides now, and correct the differences"],
  ["restore", "restore a deleted mapping"],
] as const;

function settings(command: Command): Command {
  return command
    .option("--fields <names...>", "API names of the fields to map")
    .option("--direction <way>", "bidirectional, sf_to_pg or pg_to_sf")
    .option("--interval <seconds>", "seconds between pulls, 10 to 86400")
    .option(
      "--when-quiet <seconds>",
      'seconds between pulls after five minutes without changes; "": the setting of the workspace',
    )
    .option(
      "--doorbell <on|off>",
      "let Salesforce announce changes, and poll every four minutes while that works (bridge doorbell); off by default",
    )
    .option(
      "--upsert-field <name>",
      'field that identifies a record when writing; needed for exactly once; "" for none',
    )
    .option("--policy <policy>", "which side wins a conflict: salesforce_wins, postgres_wins or latest_wins")
    .option(
      "--capture <mode>",
      "origin, or always: also send writes under session_replication_role = replica, as by a restore or bulk load",
    )
    .option("--sweep-days <days>", "days between two comparisons of both sides, 1 to 30")
    .option(
      "--check-before-save <auto|on|off>",
      "ask whether a record has changed before saving it; auto: unless PostgreSQL wins",
    )
    .option("--keep-history <on|off>", "keep the values that Salesforce changes in rows, for bridge row; on by default")
    .option(
      "--delete-limit <limit>",
      "deletes per hour before the rest is held: a number, a share of the table (25%), off, or auto",
    )
    .option(
      "--batch-size <records>",
      "most records in one call, 1 to 200; Bridge sends fewer where Apex limits refuse them",
    )
    .option(
      "--filter <condition>",
      'only records that meet a SOQL condition, as "Type = \'Customer\'"; "" for every record',
    );
}
