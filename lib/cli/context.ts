import { Api } from "./api.ts";
import { CommandFailure } from "./failure.ts";
import type { Machine } from "./operator.ts";
import { Output } from "./output.ts";
import { type Chosen, chooseTarget } from "./profiles.ts";
import type { Terminal } from "./terminal.ts";

/** What was typed behind a command's name, by the long names of the options. */
export interface Typed {
  readonly args: readonly (string | undefined)[];
  readonly options: Readonly<Record<string, unknown>>;
}

/** What a command works with. */
export interface Context extends Typed {
  readonly terminal: Terminal;
  readonly out: Output;
  /** The instance that the command calls; refuses without a session. */
  readonly target: () => Chosen;
  readonly api: () => Api;
  readonly machine: Machine;
  /** Makes the program end with this kind although nothing was thrown. */
  readonly endAs: (kind: "unwell") => void;
}

/** One command's work. */
export type Work = (context: Context) => Promise<void>;

/** Says what a command does when it is run; its code is loaded only then, so that the others need not wait for it. */
export type Does = (load: () => Promise<Work>) => (...given: unknown[]) => Promise<void>;

/** What a context cannot make itself. */
export type Surroundings = Pick<Context, "terminal" | "machine" | "endAs">;

/** A context for what was typed. */
export function contextOf(surroundings: Surroundings, typed: Typed): Context {
  const { terminal } = surroundings;
  const wish = { profile: text(typed, "profile"), url: text(typed, "url"), workspaceId: text(typed, "workspace") };
  const target = () => chooseTarget(terminal, wish);
  return {
    ...surroundings,
    ...typed,
    out: new Output(terminal, { json: isSet(typed, "json"), colours: coloursIn(terminal, typed.options["color"]) }),
    target,
    api: () => new Api(target(), terminal.interrupted),
  };
}

/** Colours where a person looks on; --color and --no-color decide first, then FORCE_COLOR as Node reads it, then NO_COLOR. */
function coloursIn({ env, stdout }: Terminal, asked: unknown): boolean {
  if (typeof asked === "boolean") return asked;
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return stdout.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb";
}

/** An option's text; null when it was not given. */
export function text({ options }: Typed, name: string): string | null {
  const value = options[name];
  return typeof value === "string" ? value : null;
}

/** Whether a switch was given. */
export const isSet = ({ options }: Typed, name: string): boolean => options[name] === true;

/** An option that can be given several times, or as a list with commas; null when it was not given. */
export function words({ options }: Typed, name: string): readonly string[] | null {
  const value = options[name];
  if (!Array.isArray(value)) return null;
  return value
    .flatMap((part) => String(part).split(","))
    .map((word) => word.trim())
    .filter(Boolean);
}

/** A whole number; null when the option was not given. */
export function wholeNumber(typed: Typed, name: string): number | null {
  const value = text(typed, name);
  if (value === null) return null;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const option = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  throw new CommandFailure("invalid", `--${option} must be a whole number, not "${value}"`);
}

/** Which part of a long list was asked for. */
export const pageIn = (typed: Typed) => ({ limit: wholeNumber(typed, "limit"), offset: wholeNumber(typed, "offset") });

/** A required argument; commander has seen to it that it is there. */
export function argument({ args }: Typed, at: number): string {
  const value = args[at];
  if (value === undefined) throw new CommandFailure("usage", "an argument is missing");
  return value;
}

/** A part of a path from what a user typed. */
export const segment = (value: string): string => encodeURIComponent(value);
