import { readFileSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import type { Context } from "./context.ts";
import { CommandFailure } from "./failure.ts";
import type { Terminal } from "./terminal.ts";
import { oneLine } from "./width.ts";

/**
 * A secret from the file named by its option, from standard input (`-`, or without a terminal) or typed unseen; where
 * it is empty, `otherwise`. Never from an option's value: that would be in the shell's history and in the list of
 * processes.
 */
export async function readSecret(
  terminal: Terminal,
  what: string,
  file: string | null,
  otherwise = "",
): Promise<string> {
  const secret = (await given(terminal, what, file)).replace(/\r?\n$/, "") || otherwise;
  if (secret === "") throw new CommandFailure("usage", `${what} is empty`);
  return secret;
}

async function given(terminal: Terminal, what: string, file: string | null): Promise<string> {
  if (file !== null && file !== "-") return readText(terminal, file);
  if (file === "-" || !terminal.stdin.isTTY) return readAll(terminal);
  return prompt(terminal, `${what}: `);
}

/** The text of a file, or of standard input for `-`. */
export async function readText(terminal: Terminal, file: string): Promise<string> {
  if (file === "-") return readAll(terminal);
  try {
    return textOf(readFileSync(file));
  } catch (error) {
    throw new CommandFailure("usage", `${file} cannot be read: ${reasonOf(error)}`, { cause: error });
  }
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : null;
  if (code === "ENOENT") return "there is no such file";
  if (code === "EISDIR") return "it is a folder";
  return error instanceof Error ? error.message : String(error);
}

/** A question that is answered by yes or no; without a terminal, no. */
export async function confirm(terminal: Terminal, question: string): Promise<boolean> {
  if (!terminal.stdin.isTTY) return false;
  const asking = createInterface({ input: terminal.stdin, output: sink(terminal), terminal: false });
  try {
    return /^y(es)?$/i.test((await asking.question(`${oneLine(question)} [y/N] `)).trim());
  } finally {
    asking.close();
  }
}

/** Asks before something that `--yes` does without a question, and refuses unless the answer is yes. */
export async function confirmUnlessYes({ terminal, options }: Context, question: string): Promise<void> {
  if (options["yes"] === true || (await confirm(terminal, question))) return;
  throw new CommandFailure("usage", "not confirmed: say --yes to do it without a question");
}

/** Asks for a word to be typed as it is, before something that cannot be undone; without a terminal there is none. */
export async function typesWord(terminal: Terminal, question: string, word: string): Promise<boolean> {
  if (!terminal.stdin.isTTY) return false;
  const asking = createInterface({ input: terminal.stdin, output: sink(terminal), terminal: false });
  try {
    return (await asking.question(oneLine(question))).trim() === word;
  } finally {
    asking.close();
  }
}

async function readAll({ stdin }: Terminal): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
  return textOf(Buffer.concat(chunks));
}

/** UTF-8, or UTF-16 where a byte-order mark says so, as PowerShell writes files; without the mark. */
function textOf(bytes: Buffer): string {
  const mark = bytes.subarray(0, 2).toString("hex");
  return new TextDecoder(ENCODINGS[mark] ?? "utf-8").decode(bytes);
}

const ENCODINGS: Readonly<Record<string, string>> = { fffe: "utf-16le", feff: "utf-16be" };

/** Readline echoes what is typed to its output, so it gets one that swallows everything. */
async function prompt(terminal: Terminal, question: string): Promise<string> {
  terminal.stderr.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const asking = createInterface({ input: terminal.stdin, output: silent, terminal: true });
  try {
    return await asking.question("", { signal: terminal.interrupted });
  } finally {
    asking.close();
    terminal.stderr.write("\n");
  }
}

function sink({ stderr }: Terminal): Writable {
  return new Writable({
    write: (chunk, _encoding, done) => {
      stderr.write(String(chunk));
      done();
    },
  });
}
