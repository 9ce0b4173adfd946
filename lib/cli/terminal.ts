import { randomUUID } from "node:crypto";
import type { Readable } from "node:stream";
import { escaped } from "./width.ts";

/** Where text goes. */
export interface TextSink {
  write(text: string): unknown;
  /** A person reads it. */
  readonly isTTY?: boolean;
  /** Characters that fit a line. */
  readonly columns?: number;
}

/** What a command touches of the machine, so that tests can play the user. */
export interface Terminal {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: TextSink;
  readonly stderr: TextSink;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder that the command was typed in. */
  readonly folder: string;
  /** Ends when the user presses Ctrl-C. */
  readonly interrupted: AbortSignal;
}

/** No text from outside can hold it. */
const MARK = randomUUID();

/** Text that a guarded terminal gets as it is: our own sequences, and what a file is to hold. */
export const asItIs = (text: string): string => `${MARK}${text}${MARK}`;

/** The same terminal, to which names, values and messages of an org or a database are shown without effect. */
export const guarded = (terminal: Terminal): Terminal => ({
  ...terminal,
  stdout: guardedSink(terminal.stdout),
  stderr: guardedSink(terminal.stderr),
});

function guardedSink(sink: TextSink): TextSink {
  const write = (text: string) => {
    const parts = text.split(MARK).map((part, at) => (at % 2 === 0 ? escaped(part) : part));
    return sink.write(parts.join(""));
  };
  // Everything else is the stream's own, its width after a change of the window's size as well.
  return Object.create(sink, { write: { value: write } });
}
