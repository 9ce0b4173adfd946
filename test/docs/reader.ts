import { type ChildProcess, spawn } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { RunningInstance } from "../support/processes/instance.ts";
import { PROJECT, type ShellBlock } from "./blocks.ts";

/** How commands are typed. */
interface Typing {
  /** What the page's placeholders are here. */
  readonly placeholders?: Readonly<Record<string, string>>;
  /** What is answered where a command asks, in order: the end of the question, and the answer. */
  readonly answers?: readonly (readonly [RegExp, string])[];
  /** So many of the block's next lines; without a number all that are left. */
  readonly lines?: number;
  /** How they may end, where it is not the end of the block. */
  readonly exits?: readonly number[];
}

/** A program that shows its child a terminal, and passes on what is typed. */
const TERMINAL = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";

/**
 * A person who has a clone of the project, in which `npm start` runs, and types the blocks of a page one after the other.
 * The clone is a copy, which blocks may change.
 */
export class Reader {
  readonly folder: string;
  readonly #root = fs.mkdtempSync(join(tmpdir(), "bridge-reader-"));
  readonly #calls = join(this.#root, "calls");
  readonly #running: ChildProcess[] = [];
  readonly #environment: Readonly<Record<string, string>>;
  instance = new RunningInstance({ live: true });
  #block: ShellBlock | null = null;
  #left: readonly string[] = [];

  private constructor() {
    this.folder = join(this.#root, "bridge");
    for (const name of ["bin", "home"]) fs.mkdirSync(join(this.#root, name));
    cloneTo(this.folder);
    fs.symlinkSync(this.instance.dataDir, join(this.folder, ".bridge"));
    const ours = Object.entries(process.env).filter(
      ([name]) => !/^(VITEST|BRIDGE_|WHOLE_GRID|TEST|NODE_ENV)/.test(name),
    );
    this.#environment = {
      ...(Object.fromEntries(ours) as Record<string, string>),
      HOME: join(this.#root, "home"),
      NO_COLOR: "1",
      NPM_CONFIG_UPDATE_NOTIFIER: "false",
      PATH: [join(this.#root, "bin"), dirname(process.execPath), process.env["PATH"]].join(delimiter),
      STUB_CALLS: this.#calls,
    };
  }

  /** One whose instance has just begun, with its demo. */
  static async begin(): Promise<Reader> {
    const reader = new Reader();
    await reader.instance.start();
    return reader;
  }

  /** Starts the instance again over its data, once `meanwhile` is done. */
  async restart(
    options: { readonly environment?: Readonly<Record<string, string>>; readonly flags?: readonly string[] },
    meanwhile: (dataDir: string) => void = () => undefined,
  ): Promise<void> {
    const { dataDir } = this.instance;
    await this.instance.stop();
    meanwhile(dataDir);
    this.instance = new RunningInstance({ live: true, dataDir, ...options });
    await this.instance.start();
  }

  /** Replaces a program, as `stub.ts` does it, for all that is typed from now on. */
  stub(program: "heroku" | "npm" | "psql" | "sf"): void {
    const script = `#!/bin/sh\nexec '${process.execPath}' '${join(import.meta.dirname, "stub.ts")}' ${program} "$@"\n`;
    fs.writeFileSync(join(this.#root, "bin", program), script, { mode: 0o755 });
  }

  /** What the block called replaced programs with. */
  get calls(): readonly string[] {
    return fs.existsSync(this.#calls) ? fs.readFileSync(this.#calls, "utf8").trimEnd().split("\n") : [];
  }

  /** Begins with a block. */
  open(block: ShellBlock): void {
    fs.rmSync(this.#calls, { force: true });
    this.#block = block;
    this.#left = block.commands.split("\n");
  }

  /** Types the next lines of the block, and gives what they say. */
  async types(typing: Typing = {}): Promise<string> {
    const commands = this.#next(typing);
    return this.run(commands, { exits: (this.#left.length === 0 && this.#block?.exits) || [0], ...typing });
  }

  /** Types the next lines of the block, which run until the reader is done, and waits until they say that they are ready. */
  async starts(ready: RegExp, typing: Typing = {}): Promise<string> {
    return this.runs(ready, this.#next(typing));
  }

  /** Types the whole block again, with other words in the place of some of its own. */
  async typesAgain(placeholders: Readonly<Record<string, string>>): Promise<string> {
    return this.run(filledIn(this.#block?.commands ?? "", placeholders));
  }

  /** Ends the block. Throws where some of it was never typed. */
  close(): void {
    if (this.#left.length > 0) throw new Error(`was not typed to its end: ${this.#left.join("\n")}`);
  }

  #next({ lines, placeholders = {} }: Typing): string {
    const commands = this.#left.slice(0, lines ?? this.#left.length).join("\n");
    this.#left = this.#left.slice(lines ?? this.#left.length);
    return filledIn(commands, placeholders);
  }

  /** Types commands that are on no page; throws where they end otherwise. The first that fails ends them. */
  async run(commands: string, { answers = [], exits = [0] }: Typing = {}): Promise<string> {
    let unasked = answers;
    let [said, answered] = ["", 0];
    const child = this.#spawn(commands, answers.length > 0, (words, { stdin }) => {
      said += words;
      const [next] = unasked;
      if (!next?.[0].test(said.slice(answered))) return;
      stdin?.write(`${next[1]}\n`);
      unasked = unasked.slice(1);
      answered = said.length;
    });
    const code = await new Promise<number | null>((resolve, reject) =>
      child.once("close", resolve).once("error", reject),
    );
    if (!exits.includes(code ?? -1))
      throw new Error(`ended with ${code}, not ${exits.join(" or ")}:\n${said.slice(-2000)}`);
    if (unasked.length > 0) throw new Error(`did not ask ${unasked[0]?.[0]}:\n${said.slice(-2000)}`);
    return said;
  }

  /** The same for commands that run until the reader is done. */
  async runs(ready: RegExp, commands: string): Promise<string> {
    let said = "";
    return new Promise<string>((resolve, reject) => {
      const child = this.#spawn(commands, false, (words) => {
        said += words;
        if (ready.test(said)) resolve(said);
      });
      this.#running.push(child);
      child.once("close", (code) => reject(new Error(`ended with ${code} before it was ready:\n${said.slice(-2000)}`)));
      child.once("error", reject);
    });
  }

  #spawn(commands: string, isAsked: boolean, hear: (words: string, by: ChildProcess) => void): ChildProcess {
    const shell = ["bash", "-euo", "pipefail", "-c", commands];
    const [program = "", ...args] = isAsked ? ["python3", "-c", TERMINAL, ...shell] : shell;
    // A group of its own, so that what the commands start ends with them.
    const child = spawn(program, args, {
      cwd: this.folder,
      env: this.#environment,
      stdio: [isAsked ? "pipe" : "ignore", "pipe", "pipe"],
      detached: true,
    });
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (data) => hear(String(data), child));
    return child;
  }

  /** Stops all that runs, and removes what there was. */
  async end(): Promise<void> {
    for (const { pid, exitCode, signalCode } of this.#running)
      if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, "SIGTERM");
    await this.instance.destroy();
    fs.rmSync(this.#root, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Copies what the repository has, with the packages that are installed. */
function cloneTo(folder: string): void {
  const left = new Set([
    ".git",
    "node_modules",
    ...fs.readFileSync(join(PROJECT, ".gitignore"), "utf8").split(/\/?\n/),
  ]);
  const isSource = (path: string) => !left.has(basename(path));
  fs.mkdirSync(folder);
  for (const name of fs.readdirSync(PROJECT).filter(isSource))
    fs.cpSync(join(PROJECT, name), join(folder, name), { recursive: true, filter: isSource });
  fs.symlinkSync(join(PROJECT, "node_modules"), join(folder, "node_modules"));
}

/** Commands as a reader types them. Throws for a placeholder that the page does not have, and for one that is left. */
function filledIn(commands: string, placeholders: Readonly<Record<string, string>>): string {
  const filled = Object.entries(placeholders).reduce((text, [words, meaning]) => {
    const pattern = new RegExp(`(?<!\\w)${RegExp.escape(words)}(?!\\w)`, "g");
    if (!pattern.test(commands)) throw new Error(`has no ${words} to fill in`);
    return text.replaceAll(pattern, () => meaning);
  }, commands);
  if (filled.includes("…")) throw new Error(`has a placeholder that nothing was prepared for: ${filled}`);
  return filled;
}
