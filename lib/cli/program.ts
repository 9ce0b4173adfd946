import { Command, CommanderError } from "commander";
import manifest from "../../package.json" with { type: "json" };
import { contextOf, type Does, type Typed } from "./context.ts";
import { CommandFailure, EXIT, type ExitKind } from "./failure.ts";
import type { Machine } from "./operator.ts";
import { guarded, type Terminal } from "./terminal.ts";
import { addCompletionCommands } from "./tree/completion-tree.ts";
import { addConfigCommands } from "./tree/config-tree.ts";
import { addConnectionCommands } from "./tree/connections.ts";
import { examplesOf } from "./tree/examples.ts";
import { groupCommands } from "./tree/groups.ts";
import { addLocalCommands } from "./tree/local-tree.ts";
import { addMappingCommands } from "./tree/mappings-tree.ts";
import { addMonitoringCommands } from "./tree/monitoring-tree.ts";
import { addOperatorCommands } from "./tree/operator-tree.ts";
import { addRestoreCommands } from "./tree/restore-tree.ts";
import { addTokenCommands } from "./tree/tokens-tree.ts";
import { addWebhookCommands } from "./tree/webhooks-tree.ts";
import { watch } from "./watch.ts";
import { oneLine } from "./width.ts";

/** Runs one command line, `["mapping", "list"]`, and gives the exit code. Errors have been printed by then. */
export async function runBridge(typed: readonly string[], given: Terminal, machine: Machine): Promise<number> {
  const terminal = guarded(given);
  const json = typed.includes("--json");
  let ended: ExitKind = "done";
  let running: Command | null = null;
  const endAs = (kind: ExitKind) => {
    ended = kind;
  };
  const does: Does =
    (load) =>
    async (...given) => {
      running = given.at(-1) as Command;
      const [work, surroundings, behind] = [await load(), { terminal, machine, endAs }, typedBehind(running)];
      await (behind.options["watch"] === undefined
        ? work(contextOf(surroundings, behind))
        : watch(work, surroundings, behind));
    };
  try {
    await programOf(does, terminal, json).parseAsync([...typed], { from: "user" });
  } catch (error) {
    ended = report(error, terminal, json, running);
  }
  return EXIT[ended];
}

/** All commands. With `json` what was typed wrong is thrown and not printed. */
export function programOf(does: Does, terminal: Terminal, json = false): Command {
  const program = new Command("bridge")
    .description("Keeps rows of PostgreSQL tables and records of Salesforce objects in step, both ways.")
    .version(manifest.version)
    .option("--profile <name>", "a profile that `bridge login` made; `local` is the instance on this machine")
    .option("--url <url>", "address of the service (BRIDGE_URL)")
    .option("--workspace <id>", "workspace (BRIDGE_WORKSPACE); its token comes from BRIDGE_TOKEN or the profile")
    .option("--json", "answer in JSON, for programs")
    .option("--color", "colours, also in a pipe (FORCE_COLOR)")
    .option("--no-color", "no colours (NO_COLOR)")
    .addHelpText("after", EXIT_HELP);
  for (const add of [
    addOperatorCommands,
    addConnectionCommands,
    addMappingCommands,
    addConfigCommands,
    addRestoreCommands,
    addMonitoringCommands,
    addWebhookCommands,
    addTokenCommands,
    addLocalCommands,
    addCompletionCommands,
  ]) {
    add(program, does);
  }
  groupCommands(program);
  settle(program, terminal, json);
  return program;
}

const EXIT_HELP = `
Exit codes: ${Object.entries(EXIT)
  .map(([kind, code]) => `${code} ${kind.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`)
  .join(", ")}`;

/** Global options may come anywhere, nothing exits behind our back, and help fits the terminal and shows examples. */
function settle(command: Command, terminal: Terminal, json: boolean, words = ""): void {
  if (words !== "") command.addHelpText("after", "\nGlobal options: see bridge --help");
  const examples = examplesOf(words).map((line) => `\n  ${line}`);
  if (examples.length > 0) command.addHelpText("after", `\nExamples:${examples.join("")}`);
  command.exitOverride().configureOutput({
    writeOut: (text) => terminal.stdout.write(text),
    writeErr: (text) => json || terminal.stderr.write(text),
    getOutHelpWidth: () => terminal.stdout.columns ?? 80,
    getErrHelpWidth: () => terminal.stderr.columns ?? 80,
  });
  if (command.commands.length > 0) command.helpCommand(false);
  for (const inner of command.commands) settle(inner, terminal, json, `${words} ${inner.name()}`.trim());
}

function typedBehind(command: Command): Typed {
  return { args: command.processedArgs as readonly (string | undefined)[], options: command.optsWithGlobals() };
}

function report(error: unknown, { stderr, interrupted }: Terminal, json: boolean, command: Command | null): ExitKind {
  if (error instanceof CommanderError && (error.exitCode === 0 || !json))
    return error.exitCode === 0 ? "done" : "usage";
  if (interrupted.aborted) return "interrupted";
  const failure = failureIn(error);
  const message = failure?.message ?? String(error);
  if (json) {
    const { code = null, details = [], help = null } = failure ?? {};
    stderr.write(`${JSON.stringify({ error: { kind: failure?.kind ?? "fault", code, message, details, help } })}\n`);
  } else {
    const said = lines(message, failure, optionsOf(command));
    for (const line of [...said, ...(failure ? [] : callsOf(error))]) stderr.write(`${line}\n`);
  }
  return failure?.kind ?? "fault";
}

/** What a user can correct: a refusal, a command line that was typed wrong, or a file or port that cannot be used. */
function failureIn(error: unknown): CommandFailure | null {
  if (error instanceof CommandFailure) return error;
  if (error instanceof CommanderError) {
    const isGroup = error.code === "commander.help";
    const message = isGroup ? "name a command: --help lists them" : error.message.replace(/^error: /, "");
    return new CommandFailure("usage", oneLine(message), { cause: error });
  }
  if (error instanceof Error && "syscall" in error) return new CommandFailure("usage", error.message, { cause: error });
  return null;
}

/** Where a fault was thrown, a line each. */
const callsOf = (error: unknown): readonly string[] =>
  error instanceof Error ? (error.stack ?? "").split("\n").filter((line) => /^ +at /.test(line)) : [];

/** Names of the service for what an option is called otherwise. */
const OPTION_OF: Readonly<Record<string, string>> = {
  sync_direction: "--direction",
  sf_polling_seconds: "--interval",
  sf_notify_enabled: "--doorbell",
  conflict_policy: "--policy",
  when_quiet_seconds: "--when-quiet",
  pg_table: "--table",
  most_calls: "--at-most",
  calls_share: "--share",
  valid_days: "--days",
  scopes: "--scope",
  url: "--target",
};

/** Says a path of the service as the command that ran has it: `--interval` for `body.sf_polling_seconds`. */
function optionsOf(command: Command | null): (path: string) => string {
  const known = new Set(command?.options.map(({ long }) => long));
  if (command?.getOptionValue("addField") !== undefined) known.delete("--fields");
  return (path) => {
    const [whole = "", name = ""] = /^(?:body\.)?(\w+)(?:\[\d+\])?/.exec(path) ?? [];
    const names = [OPTION_OF[name], `--${name.replaceAll("_", "-")}`, ...(name === "fields" ? ["--add-field"] : [])];
    const option = names.find((one) => known.has(one));
    return option ? `${option}${path.slice(whole.length).replace(".", " ")}` : plain(path);
  };
}

/** In users' words: without `body.`. */
const plain = (text: string): string => text.replaceAll(/\bbody\.(?=\w)/g, "");

/** The message, then each bad part that it does not name already, by its option or without `body.`. */
function lines(message: string, failure: CommandFailure | null, optionOf: (path: string) => string): readonly string[] {
  const { details = [], help = null } = failure ?? {};
  const parts = details.map(({ path, message: what }) => `${optionOf(path)}: ${what}`);
  const [first] = details;
  const begins = first && message.startsWith(`${first.path}: `) ? first.path : "";
  const text = plain(`${begins && optionOf(begins)}${message.slice(begins.length)}`);
  return [
    `bridge: ${text}`,
    ...(parts.length === 1 && text.includes(parts[0] ?? "") ? [] : parts.map((part) => `  ${part}`)),
    ...(help === null || details.length > 0 ? [] : [`  ${help}`]),
  ].map(oneLine);
}
