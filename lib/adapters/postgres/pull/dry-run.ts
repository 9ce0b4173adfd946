import { cutText } from "../../../model/cut-text.ts";
import { pushes } from "../../../model/mapping/mapping.ts";
import type { Column } from "../../../model/mapping/shape.ts";
import type { DryRun, Met } from "../../../model/record/dry-run.ts";
import type { Image } from "../../../model/record/record.ts";
import { differingColumns, winnersOf } from "../../../model/record/uncaptured-values.ts";
import { type Lease, LeaseLost } from "../../../sync/ports/lease-ports.ts";
import { type Ask, type Metadata, name, qualified, type StoreContext } from "../session/sql.ts";
import { isRefusedValue, messageOf, sqlState } from "../session/sql-errors.ts";
import { lockByUpsertField, lockRows, readSides } from "./page-context.ts";

/** The last dry run of a mapping; null: it had none. */
export async function readDryRun(ask: Ask, { dryRuns }: Metadata, mappingId: string): Promise<DryRun | null> {
  const [row] = await ask(`SELECT run FROM ${dryRuns} WHERE mapping_id = $1`, [mappingId]);
  return (row?.["run"] as DryRun | undefined) ?? null;
}

/** Begins a dry run in place of the last one, whose confirmation stays; null: the mapping is not provisioned. */
export async function beginDryRun(
  ask: Ask,
  { dryRuns, state }: Metadata,
  mappingId: string,
  run: DryRun,
): Promise<DryRun | null> {
  const [begun] = await ask(
    `INSERT INTO ${dryRuns} AS d (mapping_id, run) SELECT mapping_id, $2::jsonb FROM ${state} WHERE mapping_id = $1
     ON CONFLICT (mapping_id) DO UPDATE SET run = excluded.run || jsonb_build_object('confirmed', d.run -> 'confirmed')
     RETURNING run`,
    [mappingId, JSON.stringify(run)],
  );
  return (begun?.["run"] as DryRun | undefined) ?? null;
}

/** Confirms what the last dry run of a mapping found; false: its digest is another one. */
export async function confirmDryRun(ask: Ask, { dryRuns }: Metadata, mappingId: string, digest: string) {
  const confirmed = await ask(
    `UPDATE ${dryRuns} SET run = run || jsonb_build_object('confirmed', $2::text)
     WHERE mapping_id = $1 AND run ->> 'digest' = $2 RETURNING mapping_id`,
    [mappingId, digest],
  );
  return confirmed.length > 0;
}

/**
 * Keeps what a dry run has found so far. Without the lease's fence: an overtaken invocation stores an earlier state of
 * the same run, from which it can continue too. `LeaseLost` where another run was begun instead.
 */
export async function saveDryRun({ session, tables }: StoreContext, lease: Lease, run: DryRun): Promise<void> {
  const saved = await session.query(
    `UPDATE ${tables.dryRuns} SET run = $3::jsonb || jsonb_build_object('confirmed', run -> 'confirmed')
     WHERE mapping_id = $1 AND run ->> 'id' = $2 RETURNING mapping_id`,
    [lease.mappingId, run.id, JSON.stringify(run)],
  );
  if (saved.length === 0) throw new LeaseLost(lease);
}

/** Stores in the dry run of a mapping why it stopped. */
export async function failDryRun({ session, tables }: StoreContext, mappingId: string, error: string): Promise<void> {
  await session.query(
    `UPDATE ${tables.dryRuns} SET run = run || jsonb_build_object('error', $2::text)
     WHERE mapping_id = $1 AND run ->> 'endedAt' IS NULL`,
    [mappingId, error],
  );
}

/** Rows that may still meet a record for the first time, counted up to `most`. A schema of version 8 keeps no dry run: none. */
export async function countUnmatched(store: StoreContext, lease: Lease, most: number): Promise<number> {
  const { shape } = store.mapped(lease);
  const table = qualified(shape.schema, shape.table);
  const column = shape.columns.find(({ field }) => field === shape.upsertField)?.column;
  const given = `(SELECT FROM ${table} WHERE sfid IS NOT NULL AND systemmodstamp IS NULL LIMIT $1)`;
  const keyed = `(SELECT FROM ${table} WHERE sfid IS NULL AND ${name(column ?? "")} IS NOT NULL LIMIT $1)`;
  const [row] = await store.session.query<{ rows: number }>(
    `SELECT count(*) AS rows FROM (${column === undefined ? given : `${given} UNION ALL ${keyed}`}) AS unmatched`,
    [most],
  );
  return Number(row?.rows ?? 0);
}

/**
 * The rows that these records would meet for the first time, compared as `apply` compares them; locks and changes none.
 * Where a column refuses a value, the record that has it is looked for by halves, and each of its columns is tried alone.
 */
export async function compare(store: StoreContext, lease: Lease, images: readonly Image[]): Promise<readonly Met[]> {
  if (images.length === 0) return [];
  const { columns, upsertField } = store.mapped(lease).shape;
  const comparable = columns.filter(({ field }) => field !== upsertField);
  const whole = await unlessRefused(() => compareColumns(store, lease, images, comparable));
  if ("met" in whole) return whole.met;
  const half = Math.ceil(images.length / 2);
  if (images.length > 1) {
    const first = await compare(store, lease, images.slice(0, half));
    return [...first, ...(await compare(store, lease, images.slice(half)))];
  }

  const refused = new Map<Column, string>();
  for (const column of comparable) {
    const tried = await unlessRefused(() => compareColumns(store, lease, images, [column]));
    if ("reason" in tried) refused.set(column, tried.reason);
  }
  const others = comparable.filter((column) => !refused.has(column));
  const rest = await unlessRefused(() => compareColumns(store, lease, images, others));
  // Its value of the upsert field is one that the column cannot hold: it meets no row.
  if ("reason" in rest) return [];
  const [values] = images.map((image) => image.values);
  const differences = [...refused].map(([{ field, column }, reason]) => {
    const salesforce = shortened(values?.[column]);
    return { field, postgres: null, salesforce, winner: "salesforce", refused: reason } as const;
  });
  return rest.met.map((one) => ({ ...one, differences: [...differences, ...one.differences] }));
}

async function unlessRefused(work: () => Promise<readonly Met[]>) {
  try {
    return { met: await work() };
  } catch (error) {
    if (!isRefusedValue(error) || sqlState(error)?.startsWith("42")) throw error;
    return { reason: messageOf(error) };
  }
}

async function compareColumns(
  store: StoreContext,
  lease: Lease,
  images: readonly Image[],
  comparable: readonly Column[],
): Promise<readonly Met[]> {
  const mapped = store.mapped(lease);
  const { direction, conflictPolicy } = mapped.shape;
  const policy = pushes(direction) ? conflictPolicy : "salesforce_wins";
  // A transaction for its settings, which say how instants are written.
  return await store.session.transaction({}, "SELECT", async () => {
    const { rows } = await lockRows(store, mapped, images, "");
    const bySfid = new Map(rows.map((row) => [row.sfid, row]));
    const rowless = images.filter(({ sfid }) => !bySfid.has(sfid));
    const byUpsert = await lockByUpsertField(store, mapped, rowless, "");
    const pairs = images.flatMap((image) => {
      const row = bySfid.get(image.sfid) ?? byUpsert.get(image.sfid);
      return row && row.stamp === null ? [{ key: row.key, image }] : [];
    });
    const names = comparable.map(({ column }) => column);
    const sides = await readSides(store, mapped, pairs, names);
    return pairs.map(({ key, image }, index) => {
      const { row = {}, image: shown = {} } = sides[index] ?? {};
      const differing = differingColumns(comparable, row, shown);
      const winners = winnersOf(policy, differing, image.systemModstamp, null);
      const differences = differing.map(({ field, column }) => ({
        field,
        postgres: shortened(row[column]),
        salesforce: shortened(shown[column]),
        winner: winners.get(column) ?? "salesforce",
        refused: null,
      }));
      return { sfid: image.sfid, recordId: key, differences };
    });
  });
}

const shortened = (value: string | null | undefined): string | null => (value == null ? null : cutText(value));
