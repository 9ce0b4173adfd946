import { traitsOf } from "./field-type.ts";
import type { Column, TableShape } from "./shape.ts";

/** The most records that a page asks for: what Salesforce returns in one answer, unless the records are wide. */
export const PAGE_SIZE = 2_000;

/** Values of a page whose records are wide; so many of each of its mappings at once a call has the memory for. */
const PAGE_VALUES = 40_000;

/** A long text counts as one value for each so many characters that it may have; few are full. */
const CHARACTERS_OF_A_VALUE = 1_000;

/** A page that is asked for no more records than these would cost the org more calls than it spares memory. */
const SMALLEST_PAGE = 50;

/**
 * Records that a page of the mapping asks for: the fewer, the more fields they have and the longer these may be. Thirty
 * mappings in one call hold a page each, and of objects of hundreds of fields no memory holds thirty pages of 2,000.
 * Salesforce, too, answers fewer records where they are wide, but says neither when nor how many.
 */
export function pageSizeOf(shape: TableShape): number {
  const values = shape.columns.reduce(
    (sum, { length }) => sum + Math.max(1, Math.ceil(length / CHARACTERS_OF_A_VALUE)),
    0,
  );
  return Math.min(PAGE_SIZE, Math.max(SMALLEST_PAGE, Math.floor(PAGE_VALUES / Math.max(1, values))));
}

/** A query for one page, in an order by which the next page can continue. */
export interface PageQuery {
  readonly soql: string;
  /** The most records that it gives; as many are all that is left only by chance. */
  readonly limit: number;
}

/** Where a paged query continues: after this record in the order of stamp, then id. */
export interface Keyset {
  readonly stamp: Date;
  readonly afterId: string;
}

/** Records that these users saved last, stamped before `until`: what is known of them but for late commits. */
export interface Echo {
  readonly writers: readonly string[];
  readonly until: Date;
}

/** Fast lane, one page: records stamped at `since` or later, oldest first, or what follows a keyset; without an echo. */
export function changedSince(shape: TableShape, since: Date | Keyset, echo: Echo | null = null): PageQuery {
  const from = since instanceof Date ? `SystemModstamp >= ${instant(since)}` : following(since);
  const others = echo && `SystemModstamp >= ${instant(echo.until)} OR LastModifiedById NOT IN (${users(echo.writers)})`;
  const condition = others === null ? from : `(${from}) AND (${others})`;
  return page(`${select(shape)} WHERE ${within(shape, condition)} ${BY_STAMP}`, pageSizeOf(shape));
}

const users = (ids: readonly string[]) => ids.map(recordId).join(", ");

/**
 * Ids and stamps alone, one page, up to but without `until` (null: to the end), of what these users saved last (none:
 * anyone): for the probe and for late commits.
 */
export function stampsSince(
  shape: TableShape,
  since: Date | Keyset,
  until: Date | null,
  writers: readonly string[] = [],
): PageQuery {
  const from = since instanceof Date ? `SystemModstamp >= ${instant(since)}` : `(${following(since)})`;
  const upTo = until === null ? "" : ` AND SystemModstamp < ${instant(until)}`;
  const by = writers.length === 0 ? "" : ` AND LastModifiedById IN (${users(writers)})`;
  return page(`${stampsOf(shape)} WHERE ${within(shape, `${from}${upTo}${by}`)} ${BY_STAMP}`, PAGE_SIZE);
}

/** Ids and stamps of what changed and is outside of the filter, deleted or not, one page. */
export function outsideSince(shape: TableShape, since: Date | Keyset): PageQuery {
  const from = since instanceof Date ? `SystemModstamp >= ${instant(since)}` : `(${following(since)})`;
  return page(`${stampsOf(shape)} WHERE ${from}${outsideOf(shape)} ${BY_STAMP}`, PAGE_SIZE);
}

/** Those of these records, at most 400, that are living and outside of the filter. */
export function outsideWithIds(shape: TableShape, ids: readonly string[]): string {
  const alive = living({ ...shape, filter: null }).map((condition) => ` AND ${condition}`);
  return `${stampsOf(shape)} WHERE Id IN (${ids.map(recordId).join(", ")})${alive.join("")}${outsideOf(shape)}`;
}

/** Ids and stamps of these records, at most 400, deleted or not. */
export const stampsWithIds = (shape: TableShape, ids: readonly string[]): string =>
  `${stampsOf(shape)} WHERE Id IN (${ids.map(recordId).join(", ")})`;

const outsideOf = ({ filter }: TableShape) => (filter === null ? "" : ` AND (NOT ${filter})`);

const BY_STAMP = "ORDER BY SystemModstamp, Id";

const stampsOf = ({ sfObject }: TableShape) => `SELECT Id, SystemModstamp FROM ${identifier(sfObject)}`;

/** The same query for so many records at most. */
export const atMost = ({ soql, limit }: PageQuery, records: number): PageQuery =>
  page(soql.slice(0, -` LIMIT ${limit}`.length), records);

const page = (soql: string, limit: number): PageQuery => ({ soql: `${soql} LIMIT ${limit}`, limit });

/** These records as they are now, deleted ones too, whether the filter holds or not; at most 400, for the URL's sake. */
export function withIds(shape: TableShape, ids: readonly string[]): string {
  return `${select(shape, mastersOf(shape))} WHERE Id IN (${ids.map(recordId).join(", ")})`;
}

/** Living records with these values of the upsert field, inside of the filter or not: an upsert saves to any of them. */
export function withUpsertValues(shape: TableShape, values: readonly string[]): PageQuery {
  const { field = "", type = "" } = shape.columns.find((column) => column.field === shape.upsertField) ?? {};
  const isNumber = traitsOf(type).kind === "number";
  const literals = values.map((value) => (isNumber ? String(Number(value)) : text(value)));
  const conditions = [`${identifier(field)} IN (${literals.join(", ")})`, ...living({ ...shape, filter: null })];
  return page(`${select(shape)}${where(conditions)} ORDER BY Id`, values.length);
}

/** A text of a query (SOQL and SOSL Reference, Quoted String Escape Sequences). */
const text = (value: string): string =>
  `'${value.replace(/[\\']/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\r", "\\r")}'`;

/** A record as it is now, with who changed it last. */
export const withWriter = (shape: TableShape, id: string): string =>
  `${select(shape, ["LastModifiedById", "LastModifiedBy.Name", "LastModifiedDate"])} WHERE Id = ${recordId(id)}`;

/** The record with that value of its upsert field. */
export const withUpsertValue = (sfObject: string, field: string, value: string): string =>
  `SELECT Id FROM ${identifier(sfObject)} WHERE ${identifier(field)} = ${text(value)} LIMIT 1`;

/** Which of these records Salesforce still knows, and whether they are deleted; at most 400. */
export function whichAreDeleted(sfObject: string, ids: readonly string[]): string {
  return `SELECT Id, IsDeleted FROM ${identifier(sfObject)} WHERE Id IN (${ids.map(recordId).join(", ")})`;
}

/** Which of these records are living and inside of the filter; at most 400. */
export function insideWithIds(shape: TableShape, ids: readonly string[]): string {
  const conditions = [`Id IN (${ids.map(recordId).join(", ")})`, ...living(shape)];
  return `SELECT Id FROM ${identifier(shape.sfObject)}${where(conditions)}`;
}

/** First load, one page: every record in the order of ids, after the last one that arrived; of a backlog what changed. */
export function allAfter(shape: TableShape, afterId: string | null, since: Date | null = null): PageQuery {
  return page(`${everything(shape, since, afterId)} ORDER BY Id`, pageSizeOf(shape));
}

/** The same by the Bulk API, in the order that suits the org. */
export function everything(shape: TableShape, since: Date | null = null, afterId: string | null = null): string {
  const after = afterId === null ? [] : [`Id > ${recordId(afterId)}`];
  return `${select(shape)}${where([...after, ...wanted(shape, since)])}`;
}

function wanted(shape: TableShape, since: Date | null): string[] {
  return since === null ? living(shape) : [within(shape, `SystemModstamp >= ${instant(since)}`)];
}

/** Two queries that find something if a user may view all records of an object, or of all (Object Permissions, Permission Set). */
export function viewsAllRecords(sfObject: string, userId: string): string[] {
  const ours = `(SELECT PermissionSetId FROM PermissionSetAssignment WHERE AssigneeId = ${recordId(userId)})`;
  return [
    `SELECT Id FROM ObjectPermissions WHERE SobjectType = '${identifier(sfObject)}' AND PermissionsViewAllRecords = TRUE AND ParentId IN ${ours} LIMIT 1`,
    `SELECT Id FROM PermissionSet WHERE PermissionsViewAllData = TRUE AND Id IN ${ours} LIMIT 1`,
  ];
}

/** Deleted records are of no use to a first load. */
function living({ softDeletes, filter }: TableShape): string[] {
  return [...(softDeletes ? ["IsDeleted = FALSE"] : []), ...(filter === null ? [] : [`(${filter})`])];
}

const where = (conditions: readonly string[]) => (conditions.length > 0 ? ` WHERE ${conditions.join(" AND ")}` : "");

/** Records that these users (null: any) created in a window, one page: what an insert in doubt may have become. */
export function createdBy(
  shape: TableShape,
  writers: readonly string[] | null,
  from: Date,
  until: Date,
  afterId: string | null,
): PageQuery {
  const conditions = [
    ...(writers === null ? [] : [`CreatedById IN (${writers.map(recordId).join(", ")})`]),
    `CreatedDate >= ${instant(from)}`,
    `CreatedDate <= ${instant(until)}`,
    ...(afterId === null ? [] : [`Id > ${recordId(afterId)}`]),
  ];
  const fields = [...new Set([...fieldsOf(shape), "CreatedDate"])].join(", ");
  const soql = `SELECT ${fields} FROM ${identifier(shape.sfObject)} WHERE ${conditions.join(" AND ")} ORDER BY Id`;
  return page(soql, pageSizeOf(shape));
}

/** Those of these records, at most 400, that other users than these created, or that were not created in a window. */
export function strangersWithIds(
  shape: TableShape,
  ids: readonly string[],
  writers: readonly string[],
  { from, until }: { readonly from: Date; readonly until: Date },
): string {
  const strange = [
    `CreatedById NOT IN (${writers.map(recordId).join(", ")})`,
    `CreatedDate < ${instant(from)}`,
    `CreatedDate > ${instant(until)}`,
  ];
  return `${withIds(shape, ids)} AND (${strange.join(" OR ")})`;
}

/** Those of these records, at most 400, that one of these users saved last, and not before `since`. */
export function savedBy(shape: TableShape, ids: readonly string[], writers: readonly string[], since: Date): string {
  return `${withIds(shape, ids)} AND LastModifiedById IN (${users(writers)}) AND LastModifiedDate >= ${instant(since)}`;
}

/** Fields that every read of the mapping asks for. */
export function fieldsOf(shape: TableShape): string[] {
  const own = ["Id", "SystemModstamp", ...(shape.softDeletes ? ["IsDeleted"] : [])];
  return [...new Set([...own.map(identifier), ...shape.columns.map(pathOf)])];
}

const pathOf = ({ field, parent }: Column): string =>
  parent ? `${identifier(parent.relationship)}.${identifier(parent.field)}` : identifier(field);

/** Whether Salesforce merges the object's records (SOAP API Developer Guide, merge()); the losers name the master. */
export const isMergeable = ({ sfObject }: TableShape): boolean =>
  ["Account", "Case", "Contact", "Individual", "Lead"].includes(sfObject);

const mastersOf = (shape: TableShape): string[] => (isMergeable(shape) ? ["MasterRecordId"] : []);

function select(shape: TableShape, more: readonly string[] = []): string {
  return `SELECT ${[...new Set([...fieldsOf(shape), ...more])].join(", ")} FROM ${identifier(shape.sfObject)}`;
}

function within(shape: TableShape, condition: string): string {
  return shape.filter === null ? condition : `(${condition}) AND (${shape.filter})`;
}

function following({ stamp, afterId }: Keyset): string {
  const at = instant(stamp);
  return `(SystemModstamp = ${at} AND Id > ${recordId(afterId)}) OR SystemModstamp > ${at}`;
}

/** SOQL compares stamps by whole seconds. */
function instant(at: Date): string {
  return `${at.toISOString().slice(0, 19)}Z`;
}

/** Nothing but what Salesforce itself would accept as a name ever becomes part of a query. */
function identifier(name: string): string {
  if (!/^[A-Za-z][A-Za-z0-9_]{0,79}$/.test(name)) throw new Error(`${JSON.stringify(name)} is not an API name`);
  return name;
}

function recordId(id: string): string {
  if (!/^[A-Za-z0-9]{15}([A-Za-z0-9]{3})?$/.test(id)) throw new Error(`${JSON.stringify(id)} is not a record id`);
  return `'${id}'`;
}
