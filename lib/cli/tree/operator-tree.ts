import type { Command } from "commander";
import type { Does } from "../context.ts";
import { watchOption } from "../watch.ts";

const signing = () => import("../commands/sign-in.ts");
const workspaces = () => import("../commands/workspaces.ts");

const secrets = () => import("../commands/operator/secrets.ts");
const pausing = () => import("../commands/pause.ts");

/** `bridge login`, `logout`, `whoami`, `workspace …`, `pause`, `resume`, `operator …`, `doctor`, `org`. */
export function addOperatorCommands(program: Command, does: Does): void {
  program
    .command("login [url]")
    .description("store an instance, a workspace and a token for later commands")
    .option("--name <profile>", "name of the profile (default: the workspace's id)")
    .option("--token-file <file>", "read the token from a file; - is standard input (default: typed unseen)")
    .action(does(async () => (await signing()).login));
  program
    .command("logout [profile]")
    .description("forget a profile, the current one by default; its token stays valid")
    .action(does(async () => (await signing()).logout));
  program
    .command("whoami")
    .description("the instance, the workspace and the token in use")
    .action(does(async () => (await signing()).whoami));
  const workspace = program.command("workspace").description("tenants of the service");
  workspace
    .command("create <name>")
    .description(
      "create a workspace and its first admin token, with the operator's own AWS credentials or on this machine",
    )
    .requiredOption("--owner <email>", "e-mail address of the token's owner")
    .option("--stage <stage>", "stage of the deployment in AWS (default: the instance on this machine)")
    .option("--login", "store the token as a profile; with --stage it needs --url")
    .action(does(async () => (await workspaces()).createWorkspace));
  workspace
    .command("show")
    .description("the workspace in use: its name, and whether both sides are connected")
    .action(does(async () => (await workspaces()).showWorkspace));
  workspace
    .command("rename <name>")
    .description("rename the workspace in use; its id stays")
    .action(does(async () => (await workspaces()).renameWorkspace));
  workspace
    .command("list")
    .description(
      "profiles; with --all every workspace of the deployment with its state, lag and calls, with the operator's AWS credentials",
    )
    .option("--all", "every workspace of the deployment; figures are those of the latest cycles, each with its age")
    .option("--stage <stage>", "stage of the deployment in AWS (default: the instance on this machine)")
    .addOption(watchOption())
    .action(does(async () => (await workspaces()).listWorkspaces));
  workspace
    .command("delete <id>")
    .description(
      "remove a workspace for good, and everything that Bridge created in its database; tables and rows stay. Run it again if it was interrupted",
    )
    .option("--stage <stage>", "stage of the deployment in AWS (default: the instance on this machine)")
    .option("--by <email>", "who removes it, for the audit log (default: system)")
    .option("--leave-database", "leave the database as it is, because it is gone or out of reach")
    .option("-y, --yes", "do not ask for the name")
    .action(does(async () => (await import("../commands/delete-workspace.ts")).deleteWorkspace));
  switching(program.command("pause"))
    .description(
      "stop the workspace in use: running calls finish, then nothing is pulled or sent; changes of rows are still captured, and mappings stay active",
    )
    .action(does(async () => (await pausing()).pause));
  switching(program.command("resume"))
    .description("end a pause: the changes that both sides collected meanwhile are synced")
    .action(does(async () => (await pausing()).resume));
  const operator = program.command("operator").description("for operators of a deployment");
  operator
    .command("token")
    .description(
      "create a token that sees all workspaces in the console and may pause the deployment, with the operator's own AWS credentials or on this machine; it is shown once",
    )
    .requiredOption("--owner <email>", "e-mail address that the audit log names")
    .option("--stage <stage>", "stage of the deployment in AWS (default: the instance on this machine)")
    .action(does(async () => (await pausing()).createOperatorToken));
  operating(operator.command("rotate-pepper"))
    .description(
      "change the secret from which hashes of tokens and doorbells' URLs are derived: new tokens use the new one two minutes later, other tokens with their next use",
    )
    .option(
      "--finish",
      "list tokens and doorbells that still need the former secret, revoke these tokens, and delete it",
    )
    .option("-y, --yes", "with --finish: do not ask")
    .action(does(async () => (await secrets()).rotatePepper));
  operating(operator.command("reseal"))
    .description(
      "encrypt every stored credential and secret again under the KMS key as it is now, so that none depends on a former one. Repeat it if it was interrupted",
    )
    .action(does(async () => (await secrets()).reseal));
  program
    .command("doctor")
    .option("--all", "list the checks that passed, too")
    .description("check everything and name the remedies: ✓ good, ! warning, ✗ wrong (exit code 10)")
    .addOption(watchOption())
    .action(does(async () => (await import("../commands/monitoring/doctor.ts")).doctor));
  program
    .command("open [page]")
    .description(
      "open the console in the browser: at a page, a mapping, a change by its number, or a webhook by its id",
    )
    .option("--print", "only print the address")
    .action(does(async () => (await import("../commands/open.ts")).openConsole));
  program
    .command("org")
    .description("run the embedded Salesforce org alone, until Ctrl-C")
    .option("--port <port>", "port (default: a free one)")
    .option("--host <address>", "where to listen", "127.0.0.1")
    .option("--tls", "serve HTTPS with a certificate of its own, kept in the data folder")
    .option("--definition <file>", "JSON file with objects, fields and rules beyond the standard ones")
    .option(
      "--latency <save,job>",
      "seconds that 200 records of a call and 10,000 of a Bulk job take; Salesforce: about 1,30",
    )
    .option("--controls", "open /_sim, where the access token may order faults and delays")
    .option("--data-dir <folder>", "folder that keeps the org", ".bridge/org")
    .action(does(async () => (await import("../commands/org.ts")).runOrg));
}

function operating(command: Command): Command {
  return command
    .option("--stage <stage>", "stage of the deployment in AWS (default: the instance on this machine)")
    .option("--by <email>", "who does it, for the audit log (default: system)");
}

function switching(command: Command): Command {
  return command
    .option("--reason <text>", "why, for the audit log and the console")
    .option("--deployment", "every workspace of the deployment; pauses of single workspaces are kept apart from it")
    .option("--stage <stage>", "with --deployment: its stage in AWS (default: the instance on this machine)")
    .option("--by <email>", "with --deployment: who does it, for the audit log (default: system)");
}
