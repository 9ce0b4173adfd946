const LEVELS = ["error", "warn", "info"] as const;

/** A line of the log, `level` among its fields: `error`, `warn` or `info`. */
export type LogLine = Readonly<Record<string, unknown>>;

/** Whether Lambda keeps what the console is given as JSON, with its level. */
export const isJsonLog = (): boolean => process.env["AWS_LAMBDA_LOG_FORMAT"] === "JSON";

/**
 * Writes a line: where Lambda keeps the log as JSON as an object, so that a query finds its level and its fields
 * (`message.event`; AWS Lambda, "Log and monitor Node.js Lambda functions"), which wraps text as text. Elsewhere as JSON.
 */
export function writeLine(line: LogLine): void {
  const level = LEVELS.find((known) => known === line["level"]) ?? "info";
  console[level](isJsonLog() ? line : JSON.stringify(line));
}
