import { Refusal } from "../refusal.ts";
import { textOf } from "../text-of.ts";

/** The states of a Bulk 2.0 job (salesforce-facts 6). */
export type JobState = "Open" | "UploadComplete" | "InProgress" | "JobComplete" | "Failed" | "Aborted";

/** What every job has, in the words of the wire. */
export interface Job {
  readonly id: string;
  readonly operation: string;
  readonly object: string;
  readonly createdById: string;
  readonly createdDate: string;
  readonly systemModstamp: string;
  readonly state: JobState;
  readonly concurrencyMode: "Parallel";
  readonly contentType: "CSV";
  readonly apiVersion: number;
  readonly lineEnding: LineEnding;
  readonly columnDelimiter: ColumnDelimiter;
  readonly numberRecordsProcessed: number;
  readonly retries: number;
  readonly totalProcessingTime: number;
  readonly errorMessage?: string;
}

/** A job that exports what a query finds. */
export interface QueryJob extends Job {
  readonly query: string;
}

/** A job that saves the records of an upload. */
export interface IngestJob extends Job {
  readonly externalIdFieldName?: string;
  readonly numberRecordsFailed: number;
  readonly hasContent: boolean;
}

export type LineEnding = "LF" | "CRLF";
export type ColumnDelimiter = keyof typeof DELIMITERS;

const DELIMITERS = { COMMA: ",", TAB: "\t", SEMICOLON: ";", PIPE: "|", CARET: "^", BACKQUOTE: "`" } as const;

/** The character between the columns of the job's files. */
export function delimiterOf(job: Pick<Job, "columnDelimiter">): string {
  return DELIMITERS[job.columnDelimiter];
}

/** What ends a line of the job's files. */
export function lineEndOf(job: Pick<Job, "lineEnding">): string {
  return job.lineEnding === "CRLF" ? "\r\n" : "\n";
}

/** The format that a client asks for, with the defaults of Bulk 2.0. */
export function formatOf(
  body: Readonly<Record<string, unknown>>,
): Pick<Job, "contentType" | "lineEnding" | "columnDelimiter"> {
  const columnDelimiter = textOf(body["columnDelimiter"] ?? "COMMA");
  const lineEnding = textOf(body["lineEnding"] ?? "LF");
  if (!Object.hasOwn(DELIMITERS, columnDelimiter))
    throw new Refusal("INVALIDJOB", `Unable to find columnDelimiter: ${columnDelimiter}`);
  if (lineEnding !== "LF" && lineEnding !== "CRLF")
    throw new Refusal("INVALIDJOB", `Unable to find lineEnding: ${lineEnding}`);
  return { contentType: "CSV", lineEnding, columnDelimiter: columnDelimiter as ColumnDelimiter };
}

/** True once nothing more will happen to the job. */
export function isOver({ state }: Pick<Job, "state">): boolean {
  return state === "JobComplete" || state === "Failed" || state === "Aborted";
}

/** One line of CSV, every value quoted. */
export function csvLine(values: readonly string[], delimiter: string): string {
  return values.map((value) => `"${value.replaceAll('"', '""')}"`).join(delimiter);
}
