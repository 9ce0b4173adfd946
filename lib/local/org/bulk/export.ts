import { type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Field } from "../metadata/field.ts";
import { traitsOf } from "../metadata/field-type.ts";
import { Refusal } from "../refusal.ts";
import type { Output, Plan } from "../soql/plan.ts";
import type { Queries } from "../soql/query.ts";
import { type Database, quoted } from "../store/database.ts";
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

/** The plan of a bulk query; refuses what Bulk 2.0 does not allow (salesforce-facts 6.1). */
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
export async function exportRecords(needs: Needs, job: QueryJob): Promise<number | null> {
  const plan = bulkPlan(needs.queries, job);
  const files = exportFiles(needs.folder, job.id);
  const [lines, offsets] = await Promise.all([open(files.lines, "w"), open(files.offsets, "w")]);
  try {
    // One chunk is written while the next one is read.
    let writing = Promise.resolve({ records: 0, bytes: 0 });
    for (const chunk of plan.orderBy === "" ? scanned(needs, plan, job) : sorted(needs, plan, job)) {
      if (needs.isStopped()) return null;
      const before = await writing;
      writing = writeChunk({ lines, offsets }, chunk, before);
      await nextTurn();
    }
    return (await writing).records;
  } finally {
    await Promise.all([lines.close(), offsets.close()]);
  }
}

/** Some lines as bytes, and how long each of them is. */
interface Chunk {
  readonly bytes: Uint8Array;
  readonly lengths: string;
}

/** Without ORDER BY a table is read as it lies, up to where it ended when the job began. */
function* scanned({ database }: Needs, plan: Plan, job: QueryJob): Generator<Chunk> {
  const last = Number(database.tuples(`SELECT max(rowid) FROM ${quoted(plan.object.name)}`, [])[0]?.[0] ?? 0);
  const row = `${plan.alias}.rowid`;
  const rows = `SELECT ${lineSql(plan, job)} AS line, ${row} AS row FROM ${plan.from} WHERE ${plan.where} AND ${row} > ? AND ${row} <= ? ORDER BY ${row} LIMIT ?`;
  const sql = `SELECT ${TOGETHER}, max(row), count(*) FROM (${rows})`;
  for (let after = 0, left = plan.limit ?? Number.MAX_SAFE_INTEGER; left > 0; ) {
    const found = database.tuples(sql, [...plan.values, after, last, Math.min(left, CHUNK_RECORDS)])[0] ?? [];
    const chunk = chunkOf(found);
    if (!chunk) return;
    after = Number(found[2]);
    left -= Number(found[3]);
    yield chunk;
  }
}

function* sorted({ database, queries }: Needs, plan: Plan, job: QueryJob): Generator<Chunk> {
  const cursor = queries.cursors.open(plan, job.operation === "queryAll");
  const from = plan.from.replace(` ${plan.alias}`, ` ${plan.alias} ON ${plan.alias}.rowid = cursor.row`);
  const rows = `SELECT ${lineSql(plan, job)} AS line FROM _cursor_row cursor CROSS JOIN ${from} WHERE cursor.cursor = ? AND cursor.position >= ? AND cursor.position < ? ORDER BY cursor.position LIMIT ${CHUNK_RECORDS}`;
  const sql = `SELECT ${TOGETHER} FROM (${rows})`;
  try {
    for (let at = 0; at < cursor.total; at += CHUNK_RECORDS) {
      const chunk = chunkOf(database.tuples(sql, [cursor.id, at, at + CHUNK_RECORDS])[0] ?? []);
      if (chunk) yield chunk;
    }
  } finally {
    queries.cursors.close(cursor.id);
  }
}

/** SQLite itself puts the lines together, so that no value of an export passes through JavaScript. */
const TOGETHER = "CAST(group_concat(line, '') AS BLOB), group_concat(octet_length(line))";

function chunkOf([bytes, lengths]: readonly unknown[]): Chunk | null {
  return bytes instanceof Uint8Array && typeof lengths === "string" ? { bytes, lengths } : null;
}

/** Removes what a job has written. */
export async function removeExport(folder: string, jobId: string): Promise<void> {
  const files = exportFiles(folder, jobId);
  await Promise.all([rm(files.lines, { force: true }), rm(files.offsets, { force: true })]);
}

async function writeChunk(
  files: { lines: FileHandle; offsets: FileHandle },
  { bytes, lengths }: Chunk,
  before: { records: number; bytes: number },
): Promise<{ records: number; bytes: number }> {
  const sizes = lengths.split(",");
  const places = new Float64Array(sizes.length);
  let offset = before.bytes;
  for (const [index, size] of sizes.entries()) {
    places[index] = offset;
    offset += Number(size);
  }
  await Promise.all([files.lines.write(bytes), files.offsets.write(new Uint8Array(places.buffer))]);
  return { records: before.records + sizes.length, bytes: offset };
}

function lineSql(plan: Plan, job: QueryJob): string {
  const end = `char(${[...lineEndOf(job)].map((letter) => letter.charCodeAt(0)).join(", ")})`;
  const values = columnsOf(plan.outputs).map(({ field, at }) => csvSql(field, plan.columns[at] ?? "NULL"));
  return `concat('"', concat_ws('"${delimiterOf(job)}"', ${values.join(", ")}), '"', ${end})`;
}

/** Kinds whose values never hold a quote. */
const WITHOUT_QUOTES: readonly string[] = ["id", "moment", "number"];

function csvSql(field: Field, sql: string): string {
  if (field.type === "boolean") return `iif(${sql} = 1, 'true', 'false')`;
  if (field.type !== "int" && traitsOf(field.type).kind === "number")
    return `iif(${sql} IS NULL, '', iif(abs(${sql}) BETWEEN 1e-3 AND 9999999, ${sql}, java_double(${sql})))`;
  if (WITHOUT_QUOTES.includes(traitsOf(field.type).kind)) return `ifnull(${sql}, '')`;
  // Copying a text to double its quotes costs more than looking for one, and most texts have none.
  return `ifnull(iif(instr(${sql}, '"'), replace(${sql}, '"', '""'), ${sql}), '')`;
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
