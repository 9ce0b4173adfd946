/** One line of the host's own log, its level in the words of the functions' own lines. */
export interface LogLine {
  readonly level: "warn" | "error";
  /** What happened, in a few words that stay the same. */
  readonly event: string;
  readonly message: string;
  readonly [detail: string]: unknown;
}

/** Where problems of invocations are logged. */
export type Log = (line: LogLine) => void;

/** Writes JSON lines to stderr. */
export const logToStderr: Log = (line) => {
  process.stderr.write(`${JSON.stringify({ at: new Date().toISOString(), part: "lambda host", ...line })}\n`);
};
