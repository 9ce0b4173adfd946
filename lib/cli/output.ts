import { inspect } from "node:util";
import { type Column, tableLines } from "./table.ts";
import { asItIs, type Terminal } from "./terminal.ts";
import { harmless, oneLine } from "./width.ts";
import { labelOf, spokenTime } from "./words.ts";

type Paint = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

/** What commands say: tables and sentences for people, JSON for programs (`--json`). Nothing is said twice. */
export class Output {
  readonly json: boolean;
  readonly #terminal: Terminal;
  readonly #colours: boolean;

  constructor(terminal: Terminal, options: { readonly json: boolean; readonly colours: boolean }) {
    this.#terminal = terminal;
    this.json = options.json;
    this.#colours = options.colours;
  }

  /** Rows as a table, or as a JSON array. `empty` says what to do when there are none. */
  list<Row>(rows: readonly Row[], columns: readonly Column<Row>[], empty: string): void {
    if (this.json) this.#print(JSON.stringify(rows, null, 2));
    else if (rows.length === 0) this.#print(empty);
    else this.#table(rows, columns);
  }

  #table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): void {
    const { isTTY, columns: cells } = this.#terminal.stdout;
    const heading = (text: string) => this.paint("bold", text);
    for (const line of tableLines(columns, rows, isTTY ? (cells ?? 80) : null, heading)) this.#print(line);
  }

  /** One thing, part by part; for people in groups, `groups` names the keys of each, and what is in none comes first. */
  record(thing: Readonly<Record<string, unknown>>, groups: Readonly<Record<string, readonly string[]>> = {}): void {
    if (this.json) {
      this.#print(JSON.stringify(thing, null, 2));
      return;
    }
    const some = (keys: readonly string[]) => Object.fromEntries(keys.map((key) => [key, thing[key]]));
    const grouped = new Set(Object.values(groups).flat());
    this.#parts(some(Object.keys(thing).filter((key) => !grouped.has(key))));
    for (const [heading, keys] of Object.entries(groups)) {
      const known = keys.filter((key) => key in thing);
      if (known.length > 0) this.#print(`\n${this.paint("bold", heading)}`);
      this.#parts(some(known));
    }
  }

  /** A time of the service: as people say it, or as it is for a program that reads the answer. */
  time(text: string): string {
    return this.#terminal.stdout.isTTY ? spokenTime(text) : text;
  }

  #parts(thing: Readonly<Record<string, unknown>>): void {
    const parts = flatten(thing);
    const width = Math.max(0, ...parts.map(([name]) => name.length));
    for (const [name, value] of parts)
      this.#print(`${this.paint("dim", name.padEnd(width))}  ${harmless(this.time(value))}`);
  }

  /** A sentence for people, or several a line each; what the service answered for programs. */
  done(sentence: string | readonly string[], answer: unknown): void {
    if (this.json) this.#print(JSON.stringify(answer, null, 2));
    else for (const line of [sentence].flat()) this.#print(oneLine(line));
  }

  /** One line of many that arrive over time: NDJSON for programs. */
  line(sentence: string, answer: unknown): void {
    this.#print(this.json ? JSON.stringify(answer) : oneLine(sentence));
  }

  /** A file's content, as it is unless a person looks at it. */
  text(text: string): void {
    const { stdout } = this.#terminal;
    stdout.write(stdout.isTTY ? text.replaceAll("\r\n", "\n") : asItIs(text));
  }

  /** Something beside the answer; never in the way of a program that reads the answer. */
  note(sentence: string): void {
    this.#terminal.stderr.write(`${oneLine(sentence)}\n`);
  }

  /** A line that replaces itself while something runs; silent without a terminal. */
  progress(sentence: string): void {
    if (this.#terminal.stderr.isTTY && !this.json) {
      this.#terminal.stderr.write(`${asItIs("\r\u001b[2K")}${oneLine(sentence)}`);
    }
  }

  paint(colour: Paint, text: string): string {
    if (!this.#colours) return text;
    const [begin, end] = inspect.colors[colour] ?? [];
    return `${asItIs(`\u001b[${begin}m`)}${text}${asItIs(`\u001b[${end}m`)}`;
  }

  #print(line: string): void {
    this.#terminal.stdout.write(`${line}\n`);
  }
}

function flatten(thing: Readonly<Record<string, unknown>>, prefix = ""): readonly (readonly [string, string])[] {
  return Object.entries(thing).flatMap(([name, value]) => {
    const isThing = typeof value === "object" && value !== null && !Array.isArray(value);
    if (isThing) return flatten(value as Record<string, unknown>, `${prefix}${labelOf(name)} `);
    return [[prefix + labelOf(name), Array.isArray(value) ? listText(value) : wordOf(value)] as const];
  });
}

function wordOf(value: unknown): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "number" ? String(Number(value.toFixed(2))) : String(value ?? "-");
}

function listText(values: readonly unknown[]): string {
  if (values.length === 0) return "-";
  const isPlain = values.every((value) => typeof value !== "object");
  return isPlain ? values.join(", ") : JSON.stringify(values);
}
