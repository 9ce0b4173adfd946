import * as z from "zod/mini";
import type { BulkPart } from "../../../sync/ports/load-ports.ts";
import { type Client, call } from "../client.ts";
import { asJson, asStream } from "../exchange.ts";
import { lost } from "../lost-request.ts";
import { understand } from "../understand.ts";
import { csvLines } from "./csv-lines.ts";

/** Milliseconds within which an answer's beginning must come, and each next piece of it once we wait for it. */
const SILENCE_MILLISECONDS = 60_000;

const job = z.object({
  id: z.string(),
  state: z.string(),
  errorMessage: z.optional(z.nullable(z.string())),
  numberRecordsProcessed: z.optional(z.number()),
  numberRecordsFailed: z.optional(z.number()),
});

/** Opens a job of the Bulk API 2.0: `jobs` is `query` or `ingest`. */
export async function openJob(client: Client, jobs: string, settings: object) {
  const request = { method: "POST", path: `/jobs/${jobs}`, json: settings, reads: asJson } as const;
  const { answer, at } = await call(client, request);
  return { jobId: understand(job, answer, "making a job of the Bulk API").id, at };
}

/** The state of a job, at the org's time. */
export async function lookAtJob(client: Client, path: string) {
  const { answer, at } = await call(client, { method: "GET", path, reads: asJson });
  return { ...understand(job, answer, "the state of a job of the Bulk API"), at };
}

/** A file of results, read while it arrives. */
export const streamCsv = (client: Client, path: string) =>
  call(client, {
    method: "GET",
    path,
    headers: { accept: "text/csv" },
    deadline: SILENCE_MILLISECONDS,
    reads: asStream,
  });

/** A file of CSV as it arrives, by its first line's names; every part of a query's results repeats that line. */
export async function* piecesOf(body: ReadableStream<Uint8Array> | null): BulkPart["pieces"] {
  if (body === null) return;
  try {
    yield* csvLines(textsOf(body));
  } catch (error) {
    throw lost(error);
  }
}

/** Unlike a TextDecoderStream it asks for no piece before its reader does. */
async function* textsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const piece of body) yield decoder.decode(piece, { stream: true });
  yield decoder.decode();
}
