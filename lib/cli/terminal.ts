import type { Readable } from "node:stream";

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
