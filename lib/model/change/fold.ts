import type { TableShape } from "../mapping/shape.ts";
import type { Operation, OutgoingRecord } from "../record/record.ts";
import type { Action, ClaimedChange } from "./change.ts";
import { type ChangeKey, changeKeys } from "./change-keys.ts";
import { type Behind, depthOf, placeOf } from "./moved-values.ts";
import { outgoingFields, unwritableFields } from "./outgoing-fields.ts";
import { BATCH_SIZE, waysOf } from "./ways.ts";

/** What several changes of one row come to: one record of one call. */
export interface Write {
  readonly operation: Operation;
  /** What the activity shows: INSERT stays INSERT, also as an upsert. */
  readonly action: Action;
  readonly recordId: number;
  readonly changeIds: readonly number[];
  readonly record: OutgoingRecord;
  /** Attempts that the most tried of its changes has behind it. */
  readonly attempts: number;
  /** When the last of its changes was captured. */
  readonly capturedAt: Date;
  /** Earlier writes that must have ended before this one, because they share its row, record or upsert value. */
  readonly after: readonly Write[];
}

/** What is sent together: one call of SOAP, or one job of the Bulk API. */
export interface Batch {
  readonly way: "soap" | "bulk";
  readonly operation: Operation;
  readonly writes: readonly Write[];
}

interface Ended {
  readonly recordId: number;
  readonly changeIds: readonly number[];
}

/** `unwritable`: the record whose fields Salesforce does not let us write, so that the row gets them back. */
interface Settled extends Ended {
  readonly unwritable?: { readonly sfid: string; readonly fields: readonly string[] };
}

/** The result for claimed changes; each change is in exactly one of the five. */
export interface Folded {
  /** None holds a record twice; to be sent one after the other. */
  readonly batches: readonly Batch[];
  /** Nothing to send: inserted and deleted unsent, no record to delete, only unwritable columns. */
  readonly settled: readonly Settled[];
  /** They change a record that is not there, and that none of them creates. */
  readonly recordless: readonly Ended[];
  /** A value that cannot travel; `error` is `CODE: message [fields]`. */
  readonly refused: readonly (Ended & { readonly action: Action; readonly error: string })[];
  /** They change a record that this fold only creates: to be given back and claimed again once it has its id. */
  readonly early: readonly Ended[];
}

/**
 * One write per record out of its changes in log order. Changes are merged only where no other record's change to the
 * same sfid or upsert value lies between, so that a delete and an insert with the same key never change places.
 * `behind`: which records are to give their values up to which.
 */
export function fold(shape: TableShape, changes: readonly ClaimedChange[], behind: Behind = new Map()): Folded {
  const settled: Settled[] = [];
  const recordless: Ended[] = [];
  const refused: Folded["refused"][number][] = [];
  const early: Ended[] = [];
  const placed: Placed[] = [];

  for (const draft of merge(shape, changes)) {
    const before = travellingBefore(draft);
    draft.isEarly = (draft.sfid === null && draft.followsInsert) || isAnyEarly(draft.before);
    draft.travelling = before;
    if (draft.changeIds.length === 0) continue;
    const outcome = draft.isEarly ? "early" : writeOf(shape, draft, before);
    if (outcome === "early") early.push(ended(draft));
    else if (outcome === "settled") settled.push(ended(draft));
    else if (outcome === "recordless") recordless.push(ended(draft));
    else if ("unwritable" in outcome) settled.push({ ...ended(draft), ...outcome });
    else if ("error" in outcome) refused.push({ ...ended(draft), ...outcome });
    else {
      const last = { write: outcome, level: levelAfter(before) };
      placed.push(last);
      draft.travelling = [last];
    }
  }
  return { batches: batchesOf(placed, behind), settled, recordless, refused, early };
}

function travellingBefore({ before }: Draft): readonly Placed[] {
  return before.size === 0 ? NONE : [...new Set([...before].flatMap(({ travelling }) => travelling))];
}

function isAnyEarly(drafts: ReadonlySet<Draft>): boolean {
  for (const { isEarly } of drafts) if (isEarly) return true;
  return false;
}

const ended = ({ recordId, changeIds }: Draft): Ended => ({ recordId, changeIds });

/** Changes of one row on their way to becoming one write. */
interface Draft {
  readonly recordId: number;
  readonly changeIds: number[];
  readonly order: number;
  before: ReadonlySet<Draft>;
  /** It starts with the row's INSERT. */
  readonly inserts: boolean;
  /** An earlier draft of this row, kept apart, starts with the row's INSERT. */
  readonly followsInsert: boolean;
  action: Action | null;
  sfid: string | null;
  values: Readonly<Record<string, string | null>>;
  attempts: number;
  capturedAt: Date;
  isEarly: boolean;
  /** What travels last of it and of those before it: where it does not travel itself, what follows waits for them. */
  travelling: readonly Placed[];
}

function merge(shape: TableShape, changes: readonly ClaimedChange[]): Draft[] {
  const drafts: Draft[] = [];
  const lastWith = new Map<ChangeKey, Draft>();
  const keysBy = changeKeys(shape);

  for (const change of changes) {
    const keys = keysBy.of(change);
    const others = draftsOf(lastWith, keys, keysBy.parentsOf(change));
    const open = lastWith.get(change.recordId);
    const mergeable = open && canJoin(open, change) && others.every((other) => other.order <= open.order);
    const draft = mergeable ? open : begin(change, drafts.length, open);
    if (draft !== open) drafts.push(draft);
    for (const other of others) if (other !== draft) draft.before = new Set(draft.before).add(other);
    join(draft, change);
    for (const key of keys) lastWith.set(key, draft);
  }
  return drafts;
}

/** Most changes share no key with an earlier one, so the set is created only when one does. */
function draftsOf(
  lastWith: ReadonlyMap<ChangeKey, Draft>,
  keys: readonly ChangeKey[],
  parents: readonly ChangeKey[],
): readonly Draft[] {
  let drafts = NONE as readonly Draft[];
  for (const some of [keys, parents]) {
    for (const key of some) {
      const draft = lastWith.get(key);
      if (draft) drafts = [...drafts, draft];
    }
  }
  return drafts;
}

/** Nothing follows a delete but a new row under the same id; two inserts are two rows. */
function canJoin(open: Draft, change: ClaimedChange): boolean {
  return open.action !== null && open.action !== "DELETE" && change.action !== "INSERT";
}

function begin(change: ClaimedChange, order: number, previous: Draft | undefined): Draft {
  const { recordId, sfid } = change;
  const inserts = change.action === "INSERT";
  const followsInsert = !inserts && previous !== undefined && (previous.inserts || previous.followsInsert);
  return {
    recordId,
    // What was captured of a row without a record ends with what creates or deletes it.
    changeIds: previous && isRecordless(previous) ? previous.changeIds.splice(0) : [],
    order,
    before: NOTHING,
    inserts,
    followsInsert,
    action: null,
    sfid,
    values: NO_VALUES,
    attempts: 0,
    capturedAt: change.capturedAt,
    isEarly: false,
    travelling: NONE,
  };
}

const isRecordless = ({ action, sfid, inserts, followsInsert }: Draft): boolean =>
  action === "UPDATE" && sfid === null && !inserts && !followsInsert;

/** What most changes have in common is built once. */
const NONE: readonly never[] = [];
const NOTHING: ReadonlySet<never> = new Set();
const NO_VALUES: Draft["values"] = {};

function join(draft: Draft, change: ClaimedChange): void {
  draft.changeIds.push(change.id);
  draft.attempts = Math.max(draft.attempts, change.attempts);
  if (change.capturedAt > draft.capturedAt) draft.capturedAt = change.capturedAt;
  draft.sfid = change.sfid ?? draft.sfid;
  if (change.action === "DELETE") {
    draft.action = "DELETE";
    draft.values = NO_VALUES;
  } else {
    draft.action ??= change.action;
    draft.values = draft.values === NO_VALUES ? change.values : { ...draft.values, ...change.values };
  }
}

type Outcome =
  | "settled"
  | "recordless"
  | Pick<Required<Settled>, "unwritable">
  | { readonly action: Action; readonly error: string }
  | Write;

function writeOf(shape: TableShape, draft: Draft, before: readonly Placed[]): Outcome {
  const { action, sfid, recordId, changeIds, attempts, capturedAt } = draft;
  const after = before.length === 0 ? NONE : before.map(({ write }) => write);
  const common = { recordId, changeIds, attempts, capturedAt, after };
  if (action === null) return "settled";
  if (action === "DELETE") {
    return sfid ? { ...common, operation: "delete", action, record: { id: sfid, values: {} } } : "settled";
  }
  if (!sfid && !draft.inserts) return "recordless";

  const { values, parents, error } = outgoingFields(shape, draft.values, sfid === null);
  const named = parents.length > 0 ? { parents } : {};
  if (error) return { action, error };
  if (sfid) {
    if (Object.keys(values).length + parents.length === 0) {
      const fields = unwritableFields(shape, draft.values);
      return fields.length > 0 ? { unwritable: { sfid, fields } } : "settled";
    }
    return { ...common, operation: "update", action, record: { id: sfid, values, ...named } };
  }
  const upserts = shape.upsertField !== null && (values[shape.upsertField] ?? null) !== null;
  const sent = upserts ? values : withoutNulls(values);
  return { ...common, operation: upserts ? "upsert" : "create", action, record: { id: null, values: sent, ...named } };
}

function withoutNulls(values: Readonly<Record<string, string | null>>): Record<string, string | null> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}

interface Placed {
  readonly write: Write;
  readonly level: number;
}

const levelAfter = (before: readonly Placed[]): number =>
  before.reduce((most, { level }) => Math.max(most, level + 1), 0);

const ORDER: readonly Operation[] = ["undelete", "delete", "update", "upsert", "create"];

function batchesOf(placed: readonly Placed[], behind: Behind): Batch[] {
  const levels: Map<Operation, Write[]>[] = [];
  for (const { write, level } of placed) {
    levels[level] ??= new Map(ORDER.map((operation) => [operation, []]));
    levels[level].get(write.operation)?.push(write);
  }
  const depth = (write: Write) => depthOf(behind, placeOf(write)) ?? 0;
  const inOrder = (writes: readonly Write[]) =>
    behind.size === 0 ? writes : writes.toSorted((one, other) => depth(one) - depth(other));
  return levels.flatMap((level) =>
    [...level].flatMap(([operation, writes]) => batchesWith(operation, inOrder(writes))),
  );
}

function batchesWith(operation: Operation, writes: readonly Write[]): Batch[] {
  if (writes.length === 0) return [];
  const { bulk, soap } = waysOf(operation, writes);
  return [...bulk.map((job) => ({ way: "bulk", operation, writes: job }) as const), ...soapBatches(operation, soap)];
}

/** Writes in calls of SOAP, each as full as it may be. */
export function soapBatches(operation: Operation, writes: readonly Write[]): Batch[] {
  const calls = Array.from({ length: Math.ceil(writes.length / BATCH_SIZE) }, (_, index) => index * BATCH_SIZE);
  return calls.map((start) => ({ way: "soap", operation, writes: writes.slice(start, start + BATCH_SIZE) }));
}
