import { type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Field } from "../metadata/field.ts";
import { Refusal } from "../refusal.ts";
import type { Plan } from "../soql/compile.ts";
import type { Output } from "../soql/outputs.ts";
import type { Queries } from "../soql/query.ts";
import type { Database } from "../store/database.ts";
import { csvLine, delimiterOf, lineEndOf, type QueryJob } from "./job.ts";

const CHUNK_RECORDS = 2000;

/** Where a job's result lies: the lines, and for each record the offset of its first byte (eight bytes a record). */
export function exportFiles(folder: string, jobId: string): { lines: string; offsets: string } {
  return { lines: join(folder, `${jobId}.csv`), offsets: join(folder, `${jobId}.offsets`) };
}

interface Needs {
  readonly database: Database;
  readonly queries: Queries;
  readonly folder: string;
  readonly isStopped: () => boolean;
}

/** The plan of a bulk query; refuses what Bulk 2.0 does not allow (reference 6.1). */
export function bulkPlan(queries: Queries, job: Pick<QueryJob, "query" | "operation">): Plan {
  const plan = queries.plan(job.query, job.operation === "queryAll");
  const isForbidden = (output: Output): boolean =>
    output.kind === "children" ||
    (output.kind === "parent" && (output.byType !== null || output.outputs.some(isForbidden))) ||
    (output.kind === "value" && ["address", "base64"].includes(output.field.type));
  const forbidden =
    plan.isAggregate || plan.isCount
      ? "Aggregate Relationships"
      : plan.offset > 0
        ? "OFFSET"
        : plan.outputs.some(isForbidden)
          ? "Selecting compound data, binary fields, TYPEOF or nested queries"
          : null;
  if (forbidden !== null) throw new Refusal("FEATURE_NOT_ENABLED", `${forbidden} not supported in Bulk Query`);
  return plan;
}

/** The first line of every result page. */
export function headerOf(plan: Plan, job: QueryJob): string {
  return (
    csvLine(
      columnsOf(plan.outputs).map((column) => column.name),
      delimiterOf(job),
    ) + lineEndOf(job)
  );
}

/** Writes all lines of a query job; the number of records, or null if it was stopped. */
export async function exportRecords(
  { database, queries, folder, isStopped }: Needs,
  job: QueryJob,
): Promise<number | null> {
  const plan = bulkPlan(queries, job);
  const cursor = queries.cursors.open(plan, job.operation === "queryAll");
  const files = exportFiles(folder, job.id);
  const [lines, offsets] = await Promise.all([open(files.lines, "w"), open(files.offsets, "w")]);
  try {
    const sql = chunkSql(plan, job);
    let offset = 0;
    for (let from = 0; from < cursor.total; from += CHUNK_RECORDS) {
      if (isStopped()) return null;
      offset = await writeChunk(
        { lines, offsets },
        database.tuples(sql, [cursor.id, from, from + CHUNK_RECORDS])[0],
        offset,
      );
      await nextTurn();
    }
    return cursor.total;
  } finally {
    await Promise.all([lines.close(), offsets.close()]);
    queries.cursors.close(cursor.id);
  }
}

/** Removes what a job has written. */
export async function removeExport(folder: string, jobId: string): Promise<void> {
  const files = exportFiles(folder, jobId);
  await Promise.all([rm(files.lines, { force: true }), rm(files.offsets, { force: true })]);
}

async function writeChunk(
  files: { lines: FileHandle; offsets: FileHandle },
  chunk: readonly unknown[] | undefined,
  start: number,
): Promise<number> {
  const [bytes, lengths] = chunk ?? [];
  if (!(bytes instanceof Uint8Array) || typeof lengths !== "string") return start;
  const sizes = lengths.split(",");
  const places = new Float64Array(sizes.length);
  let offset = start;
  for (const [index, size] of sizes.entries()) {
    places[index] = offset;
    offset += Number(size);
  }
  await Promise.all([files.lines.write(bytes), files.offsets.write(new Uint8Array(places.buffer))]);
  return offset;
}

/** SQLite itself puts the lines together, so that no value of an export passes through JavaScript. */
function chunkSql(plan: Plan, job: QueryJob): string {
  const quote = `'"'`;
  const separator = `'"${delimiterOf(job)}"'`;
  const end = `char(${[...lineEndOf(job)].map((letter) => letter.charCodeAt(0)).join(", ")})`;
  const values = columnsOf(plan.outputs).map(({ field, at }) => csvSql(field, plan.columns[at] ?? "NULL"));
  const line = `${quote} || ${values.join(` || ${separator} || `)} || ${quote} || ${end}`;
  const from = plan.from.replace(` ${plan.alias}`, ` ${plan.alias} ON ${plan.alias}.rowid = cursor.row`);
  const lines = `SELECT ${line} AS line FROM _cursor_row cursor CROSS JOIN ${from} WHERE cursor.cursor = ? AND cursor.position >= ? AND cursor.position < ? ORDER BY cursor.position`;
  return `SELECT CAST(group_concat(line, '') AS BLOB), group_concat(octet_length(line)) FROM (${lines})`;
}

const WITHOUT_QUOTES = new Set(["id", "reference", "date", "datetime", "time", "int", "double", "currency", "percent"]);

function csvSql(field: Field, sql: string): string {
  if (field.type === "boolean") return `iif(${sql} = 1, 'true', 'false')`;
  return WITHOUT_QUOTES.has(field.type) ? `ifnull(${sql}, '')` : `ifnull(replace(${sql}, '"', '""'), '')`;
}

interface ExportColumn {
  readonly name: string;
  readonly field: Field;
  readonly at: number;
}

/** The columns of the file: `Id`, `Account.Name` … */
function columnsOf(outputs: readonly Output[], prefix = ""): ExportColumn[] {
  return outputs.flatMap((output) => {
    if (output.kind === "value") return [{ name: prefix + output.name, field: output.field, at: output.at }];
    return output.kind === "parent" ? columnsOf(output.outputs, `${prefix}${output.name}.`) : [];
  });
}
