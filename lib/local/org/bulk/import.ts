import { createReadStream } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { parse } from "csv-parse";
import type { Field } from "../metadata/field.ts";
import type { SObject } from "../metadata/sobject.ts";
import { inTransaction, type PartsBeforeBulk } from "../parts-before-bulk.ts";
import { Refusal } from "../refusal.ts";
import { type Draft, DraftReader } from "../saving/draft.ts";
import type { Outcome } from "../saving/outcome.ts";
import type { Saving } from "../saving/saving.ts";
import { csvLine, delimiterOf, type IngestJob } from "./job.ts";

const CHUNK_RECORDS = 200;
const NULL_MARK = "#N/A";

type Lines = AsyncIterable<string[]>;

/** The rows of an upload, the header first. */
export function linesOf(file: string, job: IngestJob): Lines {
  const parser = parse({ delimiter: delimiterOf(job), bom: true, relax_column_count: true, skip_empty_lines: true });
  return createReadStream(file, { highWaterMark: 1 << 20 }).pipe(parser);
}

interface Needs {
  readonly parts: PartsBeforeBulk;
  readonly isStopped: () => boolean;
  /** Keeps how far the job is; runs in the transaction that saved the records. */
  readonly progress: (processed: number, failed: number) => void;
}

/** Saves an upload in transactions of 200 records, from where an interrupted run ended. False if it was stopped. */
export async function importRecords(
  { parts: whole, isStopped, progress }: Needs,
  job: IngestJob,
  file: string,
): Promise<boolean> {
  const parts = whole.fieldAccess.partsOf(whole, job.createdById);
  const object = parts.catalog.get(job.object);
  let columns: Column[] | null = null;
  let chunk: string[][] = [];
  let seen = 0;
  let done = { processed: job.numberRecordsProcessed, failed: job.numberRecordsFailed };
  const flush = async (read: readonly Column[]): Promise<void> => {
    done = await saveChunk(parts, job, object, read, chunk, done, progress);
    chunk = [];
  };
  for await (const line of linesOf(file, job)) {
    if (columns === null) {
      columns = columnsOf(object, job, line);
      continue;
    }
    seen++;
    if (seen <= job.numberRecordsProcessed) continue;
    chunk.push(line);
    if (chunk.length < CHUNK_RECORDS) continue;
    if (isStopped()) return false;
    await flush(columns);
    // The parser has many more lines by now; other requests of the org do not wait for them.
    await nextTurn();
  }
  if (columns !== null && chunk.length > 0) await flush(columns);
  return true;
}

async function saveChunk(
  parts: PartsBeforeBulk,
  job: IngestJob,
  object: SObject,
  columns: readonly Column[],
  chunk: readonly string[][],
  done: { processed: number; failed: number },
  progress: Needs["progress"],
): Promise<{ processed: number; failed: number }> {
  const drafts = chunk.map((line) => draftOf(parts, object, columns, line));
  const ids = drafts.flatMap((draft) => draft.id ?? []);
  const session = { token: "", userId: job.createdById };
  const idsByKey = () => (job.operation === "upsert" ? parts.dml.idsByKey(drafts, keyOf(object, job)) : []);
  return await inTransaction(
    parts,
    {
      session,
      ids,
      idsByKey,
      request: `BULK ${job.operation} ${object.name}`,
      object: object.name,
      records: chunk.length,
      isJob: true,
    },
    (saving) => {
      const outcomes = save(parts, job, object, drafts, saving);
      const insert = "INSERT INTO _job_row VALUES (?, ?, ?, ?, ?, ?)";
      for (const [index, outcome] of outcomes.entries()) {
        const line = csvLine(chunk[index] ?? [], delimiterOf(job));
        parts.database.run(
          insert,
          job.id,
          done.processed + index,
          outcome.id ?? drafts[index]?.id ?? null,
          outcome.created ? 1 : 0,
          errorOf(outcome),
          line,
        );
      }
      const failed = outcomes.filter((outcome) => !outcome.success).length;
      const now = { processed: done.processed + chunk.length, failed: done.failed + failed };
      progress(now.processed, now.failed);
      return now;
    },
  );
}

function save(
  { dml }: PartsBeforeBulk,
  job: IngestJob,
  object: SObject,
  drafts: readonly Draft[],
  saving: Saving,
): readonly Outcome[] {
  const ids = drafts.map((draft) => draft.id ?? "");
  switch (job.operation) {
    case "insert":
      return dml.create(drafts, false, saving);
    case "update":
      return dml.update(drafts, false, saving);
    case "delete":
      return dml.delete(ids, false, saving);
    case "hardDelete":
      return dml.hardDelete(ids, saving);
    default:
      return dml.upsert(drafts, keyOf(object, job), false, saving);
  }
}

function keyOf(object: SObject, job: IngestJob): Field {
  const key = object.field(job.externalIdFieldName ?? "Id");
  if (key) return key;
  throw new Refusal("INVALIDJOB", `InvalidBatch : External ID field not found: ${job.externalIdFieldName ?? ""}`);
}

/** `REQUIRED_FIELD_MISSING:Required fields are missing: [Name]:Name --` */
function errorOf({ success, errors }: Outcome): string | null {
  const [error] = errors;
  return success || !error ? null : `${error.statusCode}:${error.message}:${error.fields.join(", ")} --`;
}

/** What a column of the upload fills. */
type Column =
  | { readonly kind: "id" }
  | { readonly kind: "field"; readonly name: string }
  | { readonly kind: "link"; readonly relationship: string; readonly key: string };

function columnsOf(object: SObject, { operation }: IngestJob, line: readonly string[]): Column[] {
  const columns = line.map((name) => columnOf(object, name.trim()));
  const isDelete = operation === "delete" || operation === "hardDelete";
  if (isDelete && columns.some(({ kind }) => kind !== "id"))
    throw new Refusal("INVALIDJOB", "InvalidBatch : Delete batches must contain only ids");
  return columns;
}

/** `Name`, `Id`, `Owner.External_Id__c` or `User:Owner.Email`; an unknown one fails the whole job. */
function columnOf(object: SObject, name: string): Column {
  if (name.toLowerCase() === "id") return { kind: "id" };
  if (object.field(name)) return { kind: "field", name };
  const [relationship = "", key] = name.replace(/^\w+:/, "").split(".");
  if (key !== undefined && object.relationship(relationship)) return { kind: "link", relationship, key };
  throw new Refusal("INVALIDJOB", `InvalidBatch : Field name not found : ${name}`);
}

function draftOf(
  { catalog }: PartsBeforeBulk,
  object: SObject,
  columns: readonly Column[],
  line: readonly string[],
): Draft {
  const reader = new DraftReader(catalog, object);
  for (const [index, column] of columns.entries()) {
    const text = line[index] ?? "";
    if (text === "") continue;
    if (column.kind === "id") reader.id(text);
    else if (column.kind === "field") reader.text(column.name, text === NULL_MARK ? "" : text);
    else if (text === NULL_MARK) reader.text(object.relationship(column.relationship)?.name ?? "", "");
    else reader.link(column.relationship, column.key, text);
  }
  return reader.finish();
}
