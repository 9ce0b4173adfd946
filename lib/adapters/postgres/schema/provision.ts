import pLimit from "p-limit";
import { REASON_OF_OFF } from "../../../model/change/capture-off.ts";
import { Failure } from "../../../model/failure.ts";
import { type Mapping, pushes } from "../../../model/mapping/mapping.ts";
import { isAwaited } from "../../../model/mapping/migration.ts";
import type { TableShape } from "../../../model/mapping/shape.ts";
import type { PostgresConnection, SchemaChanges } from "../../../model/workspace/workspace.ts";
import type { Provisioner } from "../../../sync/ports/schema-ports.ts";
import { retry } from "../../retry.ts";
import { CAPTURE_VERSION, captureStatements, dropFunctions, endCapture } from "../capture/capture.ts";
import { readCaptureOff } from "../capture/capture-check.ts";
import { type CatalogColumn, type CatalogTable, layoutOf, readTable } from "../capture/catalog.ts";
import { isEmptied, oweReading } from "../capture/follow-table.ts";
import { secureFunctions } from "../capture/own-functions.ts";
import { longIdOf } from "../capture/trigger-functions.ts";
import { isThere, withSession as withOpened } from "../session/session.ts";
import { openWithinLimit } from "../session/session-limit.ts";
import { type Layout, literal, type MappedTable, metadata, qualified, type Row, type Session } from "../session/sql.ts";
import { sqlState } from "../session/sql-errors.ts";
import { adoptedKey, adoptState } from "./adoption.ts";
import { captureNext, captureUnsent } from "./capture-existing.ts";
import { buildClaimIndexes } from "./claim-indexes.ts";
import { checkName } from "./identifiers.ts";
import { buildMissingIndexes, createIndex, dropStampIndex, missingIndexes, storageOf } from "./indexes.ts";
import { DDL_ATTEMPTS, givingWay, migrate } from "./migrate.ts";
import type { Predecessor } from "./predecessor.ts";
import { missingColumns, proposeMigration, readProposals, tableStatements } from "./propose.ts";
import { renamedColumns } from "./renamed-columns.ts";
import { tuneLog } from "./tune-log.ts";
import { asFarAsFollowed, type Narrow, widenColumns } from "./widen-columns.ts";

/**
 * Makes and changes mapped tables in a customer's database, or proposes how to. `now` is the service's time;
 * `predecessor`, the product whose tables may be there already.
 */
export function createProvisioner(
  connection: PostgresConnection,
  now: () => Date,
  predecessor?: Predecessor,
): Provisioner {
  const way: Way = { schemaChanges: connection.schemaChanges ?? "apply", predecessor };
  return {
    async provision(mapping, shape) {
      checkNames(shape);
      return await withSession(connection, async (session) => {
        await migrate(session, shape.schema, mapping.workspaceId);
        await tuneLog(session, shape.schema, connection.logAutovacuum);
        const asked = { shape, ...way, at: now(), waited: wasWaiting(mapping) };
        const made = await retry(DDL_ATTEMPTS, isMadeByAnother, () => provisionTable(session, asked));
        if (made.migration && isAwaited(made.migration)) return { ...made, isCaptured: true };
        const until = now().getTime() + LONGEST_CAPTURE_MILLISECONDS;
        let isCaptured = false;
        while (!isCaptured && now().getTime() < until)
          isCaptured = !(await captureNext(session, shape.schema, mapping.id));
        return { ...made, isCaptured };
      });
    },
    propose: (migrations) => withSession(connection, (session) => readProposals(session, connection, migrations)),
    upgrade: (workspaceId) => withSession(connection, (session) => upgrade(session, connection, workspaceId)),
    async migrate(mapping) {
      await withSession(connection, async (session) => {
        await upgrade(session, connection, mapping.workspaceId);
        await renewCapture(session, connection.schema, mapping.id, way);
      });
    },
    async retire(mapping) {
      await withSession(connection, (session) => retire(session, connection.schema, mapping, way));
    },
  };
}

async function upgrade(session: Session, { schema, logAutovacuum }: PostgresConnection, workspaceId: string) {
  await migrate(session, schema, workspaceId, { leavesNewer: true });
  await buildClaimIndexes(session, schema);
  await tuneLog(session, schema, logAutovacuum);
}

/** Whether the mapping has waited for a table or for columns, which are empty now. */
const wasWaiting = ({ provisioning }: Mapping): boolean =>
  provisioning.state === "pending" && provisioning.migration !== undefined;

interface Way {
  readonly schemaChanges: SchemaChanges;
  readonly predecessor: Predecessor | undefined;
}

interface Asked extends Way {
  readonly shape: TableShape;
  readonly at: Date;
  readonly waited: boolean;
}

async function provisionTable(session: Session, asked: Asked) {
  const { shape, schemaChanges } = asked;
  const before = await readTable(session, shape.schema, shape.table);
  const key = before ? adoptedKey(shape, before) : "id";
  const renamed = before ? await renamedColumns(session, shape, before) : [];
  const known = before && withColumns(before, renamed);
  if (schemaChanges === "propose") {
    const migration = await proposeMigration(session, shape, known);
    if (isAwaited(migration)) return { ...UNCHANGED, migration };
    const changed = await inOneTransaction(session, { ...asked, renamed }, known, key);
    const wider = changed.narrow.map(({ column, type }) => ({ column, type }));
    return { ...changed, migration: wider.length > 0 ? { ...migration, wider } : null };
  }
  // What may be refused comes before anything of the table is changed.
  if (before) {
    await buildMissingIndexes(session, shape, before);
    await dropStampIndex(session, shape);
  }
  const changed = await inOneTransaction(session, { ...asked, renamed }, known, key);
  await buildMissingIndexes(session, shape, await tableOf(session, shape));
  return { ...changed, migration: null };
}

/** The table as if it had these columns, whose indexes cannot be built now. */
function withColumns(table: CatalogTable, more: readonly CatalogColumn[]): CatalogTable {
  const names = more.map(({ column }) => column);
  const [unique, indexed] = [
    [...table.unique, ...names],
    [...table.indexed, ...names],
  ];
  return { ...table, columns: [...table.columns, ...more], unique, indexed };
}

/** Another message for the same mapping was quicker to make the table, a column or an index: look again. */
const isMadeByAnother = (error: unknown): boolean =>
  ["42P07", "42701", "42710", "23505"].includes(sqlState(error) ?? "");

function checkNames(shape: TableShape): void {
  checkName("the schema", shape.schema);
  checkName("the table", shape.table);
  for (const { field, column } of shape.columns) checkName(`the column of ${field}`, column);
}

/** Tables of all databases that one process changes at once: of a large import it is given ten mappings. */
const limit = /* @__PURE__ */ pLimit(4);

const withSession = <T>(connection: PostgresConnection, work: (session: Session) => Promise<T>): Promise<T> =>
  limit(() =>
    withOpened(openWithinLimit(connection, LONG_WORK, { statementMilliseconds: LONGEST_INDEX_MILLISECONDS }), work),
  );

/** Between its statements it waits for nothing. */
const LONG_WORK = { idleMilliseconds: 60_000, isLongWork: true } as const;

/** An index on a large table takes minutes; the provisioning worker is given five. */
const LONGEST_INDEX_MILLISECONDS = 270_000;

/** Rows that are left then are captured by the next message. */
const LONGEST_CAPTURE_MILLISECONDS = 60_000;

interface Changed {
  readonly narrow: readonly Narrow[];
  /** The database had no state of the mapping. */
  readonly isNew: boolean;
}

const UNCHANGED: Changed = { narrow: [], isNew: false };

/**
 * Table, columns, triggers and the mapping's state change together, so that a cycle sees one version or the other; and
 * where a predecessor has captured the table so far, its triggers end with the statement that makes ours begin.
 */
async function inOneTransaction(
  session: Session,
  { shape, at, waited, renamed, ...way }: Asked & { readonly renamed: readonly CatalogColumn[] },
  before: CatalogTable | null,
  key: string,
): Promise<Changed> {
  const { state } = metadata(shape.schema);
  const { schemaChanges, predecessor } = way;
  const first = `SELECT config_version, shape, layout FROM ${state} WHERE mapping_id = ${literal(shape.mappingId)} FOR UPDATE`;
  const change = async ([own]: readonly Row[]) => {
    const current = own ?? (await adoptState(session, shape));
    if (Number(current?.["config_version"] ?? 0) > shape.configVersion) return UNCHANGED; // a later change was faster
    await lengthenIds(session, shape, before, current !== undefined);
    const wasOff = await isCaptureOff(session, shape);
    const succession = await predecessor?.endCapture(session, shape);
    const addedColumns = schemaChanges === "apply" ? await changeTable(session, shape, before) : [];
    const known = current ? (current["shape"] as TableShape) : shape;
    const narrow = await widenColumns(session, known, shape, await tableOf(session, shape), schemaChanges);
    const made = await tableOf(session, shape);
    const layout = layoutOf(made, key, CAPTURE_VERSION, renamed);
    if (pushes(shape.direction)) await succession?.importLog({ shape, layout }, at);
    await session.script(captureOf({ shape, layout }, made, way));
    await captureUnsent(session, { shape, layout }, wasOff);
    await keepState(session, asFarAsFollowed(known, shape, narrow), layout);
    await succession?.startPulls({ shape, layout }, addedColumns, at);
    const isMadeAgain = current !== undefined && (before === null || addedColumns.length > 0 || waited);
    const readsAgain = isMadeAgain || asksForMore(known, shape) || (await isEmptied(session, own, made));
    if (readsAgain) await oweReading(session, shape);
    return { narrow, isNew: own === undefined };
  };
  return await givingWay(session, first, change, { silence: shape.table });
}

/** Gives records that an adopted table names by 15 characters their ids of 18; one that another row has stays. */
async function lengthenIds(
  session: Session,
  shape: TableShape,
  before: CatalogTable | null,
  isKnown: boolean,
): Promise<void> {
  if (isKnown || !before?.columns.some(({ column }) => column === "sfid")) return;
  const table = qualified(shape.schema, shape.table);
  await session.query(`UPDATE ${table} t SET sfid = ${longIdOf("t.sfid::text")} WHERE length(t.sfid::text) = 15
    AND NOT EXISTS (SELECT FROM ${table} o WHERE o.sfid::text = ${longIdOf("t.sfid::text")})`);
}

/** Whether rows that are in the table already lack something that this version is to hold. */
function asksForMore(before: TableShape, after: TableShape): boolean {
  const known = new Set(before.columns.map(({ column }) => column));
  return before.filter !== after.filter || after.columns.some(({ column }) => !known.has(column));
}

/** Creates the table, or adds what it lacks; the mapped columns that were added to it. */
async function changeTable(
  session: Session,
  shape: TableShape,
  before: CatalogTable | null,
): Promise<readonly string[]> {
  const columns = missingColumns(shape, before);
  const indexes = before === null ? await missingIndexes(session, shape, null) : [];
  const statements = [
    ...tableStatements({ ...shape, create: before === null, columns }),
    ...indexes.map((index) => `${createIndex(shape, index, { concurrently: false })} ${storageOf(index)}`),
  ];
  if (statements.length > 0) await session.script(statements.join(";"));
  const mapped = new Set(shape.columns.map(({ column }) => column));
  return before === null ? [] : columns.map(({ column }) => column).filter((column) => mapped.has(column));
}

async function tableOf(session: Session, shape: TableShape): Promise<CatalogTable> {
  const table = await readTable(session, shape.schema, shape.table);
  if (!table) throw new Failure("CONFLICT", `${shape.schema}.${shape.table} was dropped meanwhile; provision again`);
  return table;
}

async function keepState(session: Session, shape: TableShape, layout: Layout): Promise<void> {
  const { state, loads, log } = metadata(shape.schema);
  // A mapping of this table that was deleted may have left claimed changes: no fence of theirs comes again.
  try {
    await session.query(
      `WITH kept AS (
         INSERT INTO ${state} AS s (mapping_id, table_name, config_version, shape, layout, fence)
         VALUES (:mapping::text, :table::varchar, :version::bigint, :shape, :layout, (SELECT coalesce(max(fence), 0) FROM ${log} WHERE table_name::text = :table::varchar::text AND processed_at IS NULL))
         ON CONFLICT (mapping_id) DO UPDATE SET table_name = excluded.table_name,
           config_version = excluded.config_version, layout = excluded.layout,
           -- Rows that are marked to be captured stay so.
           shape = excluded.shape || CASE WHEN s.shape ? 'capturing' THEN jsonb_build_object('capturing', s.shape -> 'capturing') ELSE '{}' END)
       INSERT INTO ${loads} (mapping_id, config_version) VALUES (:mapping::text, :version::bigint)
       ON CONFLICT (mapping_id) DO UPDATE SET config_version = excluded.config_version`,
      {
        ...{ mapping: shape.mappingId, table: shape.table, version: shape.configVersion },
        ...{ shape: JSON.stringify(shape), layout: JSON.stringify(layout) },
      },
    );
  } catch (error) {
    if (sqlState(error) !== "23505") throw error;
    throw new Failure("CONFLICT", `the table ${shape.table} belongs to another mapping; delete that one first`, {});
  }
}

/** Replaces triggers that an older version has made. Where capture is off they stay: the operator says what is lost. */
async function renewCapture(session: Session, schema: string, mappingId: string, way: Way): Promise<void> {
  const { state } = metadata(schema);
  const ofMapping = `SELECT shape, layout FROM ${state} WHERE mapping_id = ${literal(mappingId)}`;
  const isOld = ({ layout }: Row) => ((layout as Layout).captureVersion ?? 0) < CAPTURE_VERSION;
  const old = (await session.query(ofMapping)).find(isOld);
  if (!old) return;
  await givingWay(session, `${ofMapping} FOR UPDATE`, async ([row]) => {
    if (!row || !isOld(row) || (await readCaptureOff(session, schema, mappingId)) !== null) return;
    const shape = row["shape"] as TableShape;
    const table = await tableOf(session, shape);
    const layout = layoutOf(table, (row["layout"] as Layout).key, CAPTURE_VERSION);
    await session.script(captureOf({ shape, layout }, table, way));
    await session.query(`UPDATE ${state} SET layout = $2 WHERE mapping_id = $1`, [mappingId, JSON.stringify(layout)]);
  });
  if (way.schemaChanges === "apply") await dropStampIndex(session, old["shape"] as TableShape);
}

async function isCaptureOff(session: Session, { schema, mappingId, direction }: TableShape): Promise<boolean> {
  const off = await readCaptureOff(session, schema, mappingId);
  return off !== null && REASON_OF_OFF[off.why] === "capture_off" && pushes(direction);
}

/** The statements that make all triggers and functions of a mapped table. */
const captureOf = (mapped: MappedTable, { columns }: CatalogTable, { schemaChanges, predecessor }: Way): string =>
  [
    captureStatements(mapped, columns, schemaChanges),
    predecessor?.keepColumns(mapped),
    secureFunctions(mapped.shape.schema, mapped.shape.table),
  ].join("\n");

async function retire(session: Session, schema: string, mapping: Mapping, { schemaChanges, predecessor }: Way) {
  const { state, totals } = metadata(schema);
  if (!(await isThere(session, state))) return;
  const first = `SELECT table_name FROM ${state} WHERE mapping_id = ${literal(mapping.id)} FOR UPDATE`;
  await givingWay(session, first, async ([row]) => {
    if (!row) return;
    const table = String(row["table_name"]);
    if (await readTable(session, schema, table)) {
      await session.script(
        `${endCapture(schema, table, schemaChanges)}\n${predecessor?.dropColumns(schema, table) ?? ""}`,
      );
    }
    await session.script(dropFunctions(schema, table));
    await session.query(`DELETE FROM ${state} WHERE mapping_id = $1`, [mapping.id]);
    // By this row the long work of other mappings knows that the table may have left changes behind.
    await session.query(`INSERT INTO ${totals} (table_name) VALUES ($1) ON CONFLICT DO NOTHING`, [table]);
  });
}
