import { columnType } from "../../../model/mapping/column-type.ts";
import type { Column, TableShape } from "../../../model/mapping/shape.ts";
import type { SchemaChanges } from "../../../model/workspace/workspace.ts";
import { endCapture } from "../capture/capture.ts";
import type { CatalogTable } from "../capture/catalog.ts";
import { refusalOf } from "../session/savepoint.ts";
import { name, qualified, type Session } from "../session/sql.ts";
import { messageOf, sqlState } from "../session/sql-errors.ts";

/** A column that stays as narrow as it was, and what prevents more. */
export interface Narrow {
  readonly column: string;
  /** `character varying(120)`, as it should have become. */
  readonly type: string;
  readonly reason: string;
}

/**
 * Follows fields that have grown in Salesforce since `before`; nothing is ever narrowed, and a type of the customer's
 * own choice stays while the field stays. A column that a view or a trigger of the customer uses is left and reported.
 * A longer text and a `numeric` of any size are matters of the catalog: no row is written.
 */
export async function widenColumns(
  session: Session,
  before: TableShape,
  shape: TableShape,
  table: CatalogTable,
  schemaChanges: SchemaChanges,
): Promise<readonly Narrow[]> {
  const wider = widenings(before, shape, table);
  if (wider.length === 0) return [];
  if (schemaChanges === "propose") return wider.map((column) => ({ ...column, reason: "schema_changes is propose" }));
  // Triggers of version 0.2 name the columns, which then keep their types; the transaction creates capture again.
  await session.script(endCapture(shape.schema, shape.table, schemaChanges));
  const narrow: Narrow[] = [];
  for (const { column, type } of wider) {
    const reason = await alter(session, shape, column, type);
    if (reason !== null) narrow.push({ column, type, reason });
  }
  return narrow;
}

/** The shape as far as the table could follow it, and by how much it could not: the next version tries it again. */
export function asFarAsFollowed(before: TableShape, shape: TableShape, narrow: readonly Narrow[]): TableShape {
  const old = new Map(before.columns.map((column) => [column.column, column]));
  const stayed = new Set(narrow.map(({ column }) => column));
  const columns = shape.columns.map((column) => (stayed.has(column.column) ? sizedAs(column, old) : column));
  return { ...shape, columns };
}

function sizedAs(column: Column, old: ReadonlyMap<string, Column>): Column {
  const { length, precision, scale } = column;
  const kept = old.get(column.column) ?? column;
  const size = { length: kept.length, precision: kept.precision, scale: kept.scale };
  return { ...column, ...size, outgrown: { length, precision, scale } };
}

interface Widening {
  readonly column: string;
  readonly type: string;
}

function widenings(before: TableShape, shape: TableShape, table: CatalogTable): Widening[] {
  const old = new Map(before.columns.map((column) => [column.column, column]));
  const found = new Map(table.columns.map(({ column, exactType }) => [column, exactType]));
  return shape.columns.flatMap((field) => {
    const { column } = field;
    const [was, is] = [old.get(column), found.get(column)];
    if (was === undefined || is === undefined || !hasGrown(was, field)) return [];
    const type = widerType(is, columnType(field));
    return type === null ? [] : [{ column, type }];
  });
}

const hasGrown = (was: Column, field: Column): boolean =>
  widerType(columnType(was), columnType(field)) !== null ||
  field.scale > was.scale ||
  field.precision - field.scale > was.precision - was.scale;

/** The type that holds all that both hold, when it is another than `is`; null: `is` holds it, or cannot be compared. */
export function widerType(is: string, wanted: string): string | null {
  const [one, other] = [parse(is), parse(wanted)];
  if (one.kind === "varchar" && other.kind === "text") return "text";
  if (one.kind === "varchar" && other.kind === "varchar")
    return other.length > one.length ? `varchar(${other.length})` : null;
  return one.kind === "numeric" && other.kind === "numeric" && is !== wanted ? wanted : null;
}

type Type = { readonly kind: "text" | "numeric" | "other" } | { readonly kind: "varchar"; readonly length: number };

function parse(type: string): Type {
  const varchar = /^(?:varchar|character varying)\((\d+)\)$/.exec(type);
  if (varchar) return { kind: "varchar", length: Number(varchar[1]) };
  if (/^numeric(\(|$)/.test(type)) return { kind: "numeric" };
  return { kind: type === "text" || type === "character varying" ? "text" : "other" };
}

/** PostgreSQL's refusals because something else depends on the column's type. */
const HELD_FAST = ["0A000", "2BP01"];

async function alter(
  session: Session,
  { schema, table }: TableShape,
  column: string,
  type: string,
): Promise<string | null> {
  const statement = `ALTER TABLE ${qualified(schema, table)} ALTER COLUMN ${name(column)} TYPE ${type}`;
  const isHeld = (error: unknown) => HELD_FAST.includes(sqlState(error) ?? "");
  const refusal = await refusalOf(session, () => session.query(statement), isHeld);
  return refusal === null ? null : messageOf(refusal);
}
