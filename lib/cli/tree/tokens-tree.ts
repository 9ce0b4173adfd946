import type { Command } from "commander";
import type { Does } from "../context.ts";

const commands = () => import("../commands/tokens.ts");

/** `bridge token …`. */
export function addTokenCommands(program: Command, does: Does): void {
  const token = program.command("token").description("API tokens of the workspace");
  token
    .command("list")
    .description("all tokens, also those that no longer open anything")
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
    .description("create a token in place of another, by its id or its name, and end that one later; it is shown once")
    .option("--overlap <hours>", "hours that the old one stays valid, at most 720", "24")
    .action(does(async () => (await commands()).rotateToken));
  token
    .command("revoke <token>")
    .description("end a token, by its id or its name")
    .action(does(async () => (await commands()).revokeToken));
}
