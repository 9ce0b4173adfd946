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
  let ended: ExitKind = "done";
  const endAs = (kind: ExitKind) => {
    ended = kind;
  };
  const does: Does =
    (load) =>
    async (...given) => {
      const command = given.at(-1) as Command;
      const [work, surroundings, behind] = [await load(), { terminal, machine, endAs }, typedBehind(command)];
      await (behind.options["watch"] === undefined
        ? work(contextOf(surroundings, behind))
        : watch(work, surroundings, behind));
    };
  try {
    await programOf(does, terminal).parseAsync([...typed], { from: "user" });
  } catch (error) {
    ended = report(error, terminal, typed.includes("--json"));
  }
  return EXIT[ended];
}

/** All commands. */
export function programOf(does: Does, terminal: Terminal): Command {
  const program = new Command("bridge")
    .description("Keeps rows of PostgreSQL tables and records of Salesforce objects in step, both ways.")
    .version(manifest.version)
    .option("--profile <name>", "a profile that `bridge login` made; `local` is the instance on this machine")
    .option("--url <url>", "address of the service (BRIDGE_URL)")
    .option("--workspace <id>", "workspace (BRIDGE_WORKSPACE); its token comes from BRIDGE_TOKEN or the profile")
    .option("--json", "answer in JSON, for programs")
    .option("--no-color", "no colours, also with NO_COLOR")
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
  settle(program, terminal);
  return program;
}

const EXIT_HELP = `
Exit codes: ${Object.entries(EXIT)
  .map(([kind, code]) => `${code} ${kind.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`)
  .join(", ")}`;

/** Global options may come anywhere, nothing exits behind our back, and help fits the terminal and shows examples. */
function settle(command: Command, terminal: Terminal, words = ""): void {
  const examples = examplesOf(words).map((line) => `\n  ${line}`);
  if (examples.length > 0) command.addHelpText("after", `\nExamples:${examples.join("")}`);
  command.configureHelp({ showGlobalOptions: true });
  command.exitOverride().configureOutput({
    writeOut: (text) => terminal.stdout.write(text),
    writeErr: (text) => terminal.stderr.write(text),
    getOutHelpWidth: () => terminal.stdout.columns ?? 80,
    getErrHelpWidth: () => terminal.stderr.columns ?? 80,
  });
  if (command.commands.length > 0) command.helpCommand(false);
  for (const inner of command.commands) settle(inner, terminal, `${words} ${inner.name()}`.trim());
}

function typedBehind(command: Command): Typed {
  return { args: command.processedArgs as readonly (string | undefined)[], options: command.optsWithGlobals() };
}

function report(error: unknown, { stderr, interrupted }: Terminal, json: boolean): ExitKind {
  if (error instanceof CommanderError) return error.exitCode === 0 ? "done" : "usage";
  if (interrupted.aborted) return "interrupted";
  const failure = error instanceof CommandFailure ? error : null;
  const message = failure?.message ?? String(error);
  if (json) {
    const { code = null, details = [], help = null } = failure ?? {};
    stderr.write(`${JSON.stringify({ error: { kind: failure?.kind ?? "fault", code, message, details, help } })}\n`);
  } else {
    for (const line of [...lines(message, failure), ...(failure ? [] : callsOf(error))]) stderr.write(`${line}\n`);
  }
  return failure?.kind ?? "fault";
}

/** Where a fault was thrown, a line each. */
const callsOf = (error: unknown): readonly string[] =>
  error instanceof Error ? (error.stack ?? "").split("\n").filter((line) => /^ +at /.test(line)) : [];

/** The message, then each bad part that it does not name already, in users' words: without `body.`. */
function lines(message: string, failure: CommandFailure | null): readonly string[] {
  const { details = [], help = null } = failure ?? {};
  const plain = (text: string) => text.replaceAll(/\bbody\.(?=\w)/g, "");
  const parts = details.map(({ path, message: what }) => `${plain(path)}: ${what}`);
  const text = plain(message);
  return [
    `bridge: ${text}`,
    ...(parts.length === 1 && text.includes(parts[0] ?? "") ? [] : parts.map((part) => `  ${part}`)),
    ...(help === null || details.length > 0 ? [] : [`  ${help}`]),
  ].map(oneLine);
}
