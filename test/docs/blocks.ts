import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Marked, type Tokens } from "marked";
import { readPages } from "../../lib/infra/build-docs.ts";

export const PROJECT = join(import.meta.dirname, "../..");

/** Every page that people read: the served ones, and those that only the repository has. */
export const DOCUMENTS: readonly string[] = [
  "README.md",
  "lib/heroku-connect/HEROKU-CONNECT.md",
  ...readPages()
    .map(({ file }) => file)
    .filter((file) => file !== "CHANGELOG.md"), // it names commands of versions that are gone
];

export const textOf = (file: string): string => readFileSync(join(PROJECT, file), "utf8");

/** A fenced block of shell commands. */
export interface ShellBlock {
  readonly file: string;
  /** The first line of its commands, counted from 1. */
  readonly line: number;
  readonly commands: string;
  /** Why it cannot run here; null: it runs. */
  readonly skipped: string | null;
  /** The exit codes that it may end with. */
  readonly exits: readonly number[];
  /** What is prepared for it, by a name of `preparations`; null: nothing. */
  readonly preparation: string | null;
}

/**
 * The blocks of a page that begin with "```sh". What follows on that line says how a block runs: nothing, `exits: 0 or 10`,
 * `with:` and the name of its preparation, or `skip:` and the reason. Throws where it says something else, and where a
 * block of commands is not marked as one.
 */
export function shellBlocks(file: string, text = textOf(file)): ShellBlock[] {
  return fencesIn(text).flatMap(({ words, line, content }) => {
    const where = `${file}:${line}`;
    const [language, ...more] = words.split(" ");
    if (language !== "sh") {
      if (COMMANDS.test(content)) throw new Error(`${where}: mark these commands as sh`);
      return [];
    }
    const [, how, what = ""] = /^(?:(skip|exits|with): (.+))?$/.exec(more.join(" ")) ?? [undefined, "else"];
    if (how === "else") throw new Error(`${where}: after sh write nothing, "skip: why", "exits: code" or "with: name"`);
    const exits = how === "exits" ? what.split(" or ").map(Number) : [0];
    const [skipped, preparation] = ["skip", "with"].map((word) => (how === word ? what : null)) as [string, string];
    return [{ file, line, commands: content, skipped, exits, preparation }];
  });
}

const COMMANDS = /^(npx|npm|bridge|curl|git|heroku|sf|psql|aws) /m;

/** The fenced blocks with what follows the fence, the number of the line after it, and their content without indentation. */
export function fencesIn(text: string): { words: string; line: number; content: string }[] {
  const fences: { words: string; line: number; content: string }[] = [];
  let open: { words: string; line: number; indent: string; lines: string[] } | null = null;
  for (const [index, line] of text.split("\n").entries()) {
    const [, indent = "", words = ""] = /^( *)```(.*)$/.exec(line) ?? [];
    const isFence = /^ *```/.test(line);
    if (open === null && isFence) open = { words, line: index + 2, indent, lines: [] };
    else if (open !== null && isFence) {
      fences.push({ words: open.words, line: open.line, content: open.lines.join("\n") });
      open = null;
    } else open?.lines.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line);
  }
  return fences;
}

/** What a page sets in code: spans and lines of blocks. */
export function codeIn(text: string): string[] {
  const found: string[] = [];
  const walkTokens = ({ type, text: code }: { type: string; text?: string }) => {
    if (code === undefined) return;
    if (type === "codespan") found.push(code);
    if (type === "code") found.push(...code.split("\n"));
  };
  new Marked({ walkTokens: (token) => walkTokens(token as Tokens.Generic & { text?: string }) }).parse(text);
  return found;
}
