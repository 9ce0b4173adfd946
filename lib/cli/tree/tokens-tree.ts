import type { Command } from "commander";
import type { Does } from "../context.ts";

const commands = () => import("../commands/tokens.ts");

/** `bridge token …`, and the two ends of an invitation. */
export function addTokenCommands(program: Command, does: Does): void {
  program
    .command("invite <email>")
    .description("invite a person to the workspace: prints a link that gives them their own token, once")
    .option("--read", "they may read (default)")
    .option("--operate", "they may also retry, poll and abort")
    .option("--admin", "they may do everything")
    .option("--days <days>", "days that the link works (default: 7)")
    .action(does(async () => (await commands()).invite));
  program
    .command("accept")
    .description("accept an invitation and sign in; its link is typed, or read from standard input")
    .option("--name <name>", "name of the profile (default: the workspace's id)")
    .action(does(async () => (await commands()).accept));
  const token = program.command("token").description("API tokens of the workspace");
  token
    .command("list")
    .description("all tokens, also expired and revoked ones")
    .action(does(async () => (await commands()).listTokens));
  token
    .command("create <name>")
    .description("create a token; it is shown once")
    .requiredOption("--owner <email>", "e-mail address that the audit log names")
    .option("--scope <scope>", "read, operate or admin", "read")
    .option("--days <days>", "days that it is valid (default: until it is revoked)")
    .action(does(async () => (await commands()).createToken));
  token
    .command("rotate <token>")
    .description("replace a token, by its id or its name: the new one is shown once, the old one ends later")
    .option("--overlap <hours>", "hours that the old one stays valid, at most 720", "24")
    .action(does(async () => (await commands()).rotateToken));
  token
    .command("revoke <token>")
    .description("revoke a token, by its id or its name")
    .action(does(async () => (await commands()).revokeToken));
}
