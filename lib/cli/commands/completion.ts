import { readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Complete, type Command as Completed, RootCommand } from "@bomb.sh/tab";
import type { ListMappingStatesData } from "bridge/api";
import type { Command, Option } from "commander";
import { Api } from "../api.ts";
import { argument, type Context, type Work } from "../context.ts";
import { CommandFailure } from "../failure.ts";
import { LOCAL, readProfiles } from "../profiles.ts";

const SHELLS = ["bash", "zsh", "fish"];

/** Prints what a shell has to run so that it completes `bridge`. */
export const printCompletion: Work = async (context) => {
  const shell = argument(context, 0);
  if (!SHELLS.includes(shell)) throw new CommandFailure("invalid", `name one of ${SHELLS.join(", ")}, not "${shell}"`);
  new RootCommand().setup("bridge", "bridge", shell);
};

/** A user waits at the prompt: a service that is slower than this is not waited for. */
const PATIENCE_MILLISECONDS = 1500;

/** Prints what can complete the last word, for the shell that asks. */
export const completeWords =
  (program: Command): Work =>
  async (context) => {
    const words = context.args.flat() as unknown as readonly string[];
    const values: Values = {
      mapping: await mappingNames(context, program, words),
      file: filesAt(context.terminal.folder, words.at(-1) ?? ""),
      profile: profileNames(context),
    };
    const root = new RootCommand();
    describe(root, program, program, values);
    addCommands(root, program, program, "", values);
    root.parse([...words]);
  };

/** What can be said for an argument or an option's value, by its name in the help: `<mapping>`, `<file>`. */
type Values = Readonly<Record<string, readonly string[]>>;

function addCommands(root: RootCommand, program: Command, of: Command, before: string, values: Values): void {
  for (const command of of.createHelp().visibleCommands(of)) {
    const name = `${before}${command.name()}`;
    describe(root.command(name, command.description()), program, command, values);
    addCommands(root, program, command, `${name} `, values);
  }
}

/** Global options may come behind every command. */
function describe(completed: Completed, program: Command, command: Command, values: Values): void {
  const help = command.createHelp();
  for (const option of new Set([...help.visibleOptions(command), ...help.visibleOptions(program)])) {
    const name = option.long?.slice(2);
    if (name === undefined) continue;
    const short = option.short?.slice(1);
    if (option.required || option.optional) {
      completed.option(name, option.description, say(option.argChoices ?? values[valueName(option)] ?? []), short);
    } else completed.option(name, option.description, short);
  }
  for (const taken of command.registeredArguments) {
    completed.argument(taken.name(), say(taken.argChoices ?? values[taken.name()] ?? []), taken.variadic);
  }
}

const say = (choices: readonly string[]) => (complete: Complete) => {
  for (const choice of choices) complete(choice, "");
};

/** `--url-file <file>` takes a file, `--mapping <mapping>` a mapping, `--profile <name>` what its own name says. */
function valueName({ flags, long }: Option): string {
  const value = /[<[](\w+)/.exec(flags)?.[1] ?? "";
  if (long === "--profile") return "profile";
  return value === "folder" ? "file" : value;
}

/** Asked for only where a mapping can be named; without a session or an answer there is none. */
async function mappingNames(context: Context, program: Command, words: readonly string[]): Promise<readonly string[]> {
  const command = words.reduce((at, word) => at.commands.find((inner) => inner.name() === word) ?? at, program);
  const isNamed = command.registeredArguments.some((one) => one.name() === "mapping");
  if (!isNamed && words.at(-2) !== "--mapping") return [];
  try {
    const signal = AbortSignal.any([context.terminal.interrupted, AbortSignal.timeout(PATIENCE_MILLISECONDS)]);
    const { data } = await new Api(context.target(), signal).get<ListMappingStatesData>("/monitoring/mappings");
    return data.map(({ sf_object }) => sf_object);
  } catch {
    return [];
  }
}

function profileNames({ terminal }: Context): readonly string[] {
  try {
    return [LOCAL, ...Object.keys(readProfiles(terminal.env).profiles)];
  } catch {
    return [LOCAL];
  }
}

function filesAt(folder: string, typed: string): readonly string[] {
  const above = typed.endsWith("/") ? typed : dirname(typed);
  try {
    const found = readdirSync(resolve(folder, above), { withFileTypes: true });
    const place = above === "." && !typed.startsWith("./") ? "" : above;
    return found.map((entry) => join(place, entry.name) + (entry.isDirectory() ? "/" : ""));
  } catch {
    return [];
  }
}
