import pLimit from "p-limit";
import { cutText } from "../../model/cut-text.ts";
import { type PostgresConnection, RETENTION, type Retention } from "../../model/workspace/workspace.ts";
import type { CycleStore } from "../../sync/ports/cycle-ports.ts";
import { type Lease, LeaseLost, type OutboxEvent, WriteUndone } from "../../sync/ports/lease-ports.ts";
import type { Pulse, RecordStamp } from "../../sync/ports/pull-ports.ts";
import { endIdle, syncStates } from "./lease/idle-beats.ts";
import { addCalls, begin, finish, renew } from "./lease/lease.ts";
import { watermarkColumns, watermarksOf } from "./lease/watermarks.ts";
import { type BacklogMemory, readWaiting } from "./log/backlog.ts";
import { BEGINNING } from "./log/change-states.ts";
import { apply } from "./pull/apply.ts";
import { sweepStore } from "./pull/compare-rows.ts";
import { beginDryRun, compare, countUnmatched, failDryRun, readDryRun, saveDryRun } from "./pull/dry-run.ts";
import { forgetGone } from "./pull/inbound-errors.ts";
import { claim, markSent, release } from "./push/claim.ts";
import { createClaims } from "./push/claim-ledger.ts";
import { endRestores } from "./push/end-restores.ts";
import { doubtsIn, noteLook, recover } from "./push/recover.ts";
import { requeueOverwritten } from "./push/requeue-overwritten.ts";
import { holdWaiting, noteFindings, rewoundDoubts } from "./push/rewound.ts";
import { settle } from "./push/settle.ts";
import { openOnSchema } from "./session/schema-version.ts";
import type { Use } from "./session/session-limit.ts";
import { createSessionPool, type InTurn, type SessionPool } from "./session/session-pool.ts";
import {
  type Ask,
  cut,
  instant,
  iso,
  isZoneless,
  literal,
  type MappedTable,
  type Metadata,
  mappedOf,
  metadata,
  qualified,
  type Session,
  type StoreContext,
} from "./session/sql.ts";
import { unlessUnprovisioned } from "./session/sql-errors.ts";

/** Databases whose sessions and backlog one process caches at most. */
const MOST_PLACES = 1_000;

/** The server ends a session that was silent for longer: a lease is renewed every ten seconds. */
const IDLE_MILLISECONDS = 30_000;

/** How long a session is kept for a cycle: longer than a beat, shorter than networks forget a silent one. */
const KEPT_MILLISECONDS = 15_000;
/** The same for long work, which has no next beat: what it keeps is missing to all others. */
const LONG_WORK_KEPT_MILLISECONDS = 1_000;

/** Customers' databases, for cycles: the stores of one database share its sessions. */
export function createCycleStores(
  now: () => Date,
  { isLongWork = false }: Pick<Use, "isLongWork"> = {},
): (connection: PostgresConnection) => CycleStore {
  const places = new Map<string, { readonly pool: SessionPool; readonly backlog: BacklogMemory }>();
  return (connection) => {
    const name = JSON.stringify(connection);
    const place = places.get(name) ?? {
      pool: createSessionPool(
        (waits) =>
          openOnSchema(connection, {
            idleMilliseconds: IDLE_MILLISECONDS,
            isLongWork,
            ...(!waits && { waitMilliseconds: 0 }),
          }),
        isLongWork ? LONG_WORK_KEPT_MILLISECONDS : KEPT_MILLISECONDS,
        now,
      ),
      backlog: { counted: null },
    };
    // The backlog is counted again, and idle sessions end on their own.
    if (places.size >= MOST_PLACES) places.clear();
    places.set(name, place);
    const { session, inTurn } = place.pool.share();
    return cycleStoreOn(session, connection.schema, now, {
      inTurn,
      backlog: place.backlog,
      retention: { ...RETENTION, ...connection.retention },
    });
  };
}

interface Surroundings {
  /** One connection does one thing at a time: a renewal must not slip into the transaction of a page. */
  readonly inTurn: InTurn;
  readonly backlog: BacklogMemory;
  readonly retention: Retention;
}

/** The store of one cycle over a connection that is open. */
export function cycleStoreOn(
  session: Session,
  schema: string,
  now: () => Date,
  { inTurn = pLimit(1), backlog = { counted: null }, retention = RETENTION }: Partial<Surroundings> = {},
): CycleStore {
  const tables = metadata(schema);
  const known = new Map<string, MappedTable>();
  /** Behind which id of the log a lease looks for changes next. */
  const places = new Map<string, number>();
  const claims = createClaims();
  const store: StoreContext = {
    session,
    schema,
    tables,
    now,
    retention,
    refusedWriteBacks: { rows: 0, sqlState: null },
    failedRows: new Set(),
    busiestHours: new Map(),
    mapped: ({ mappingId }) => {
      const mapped = known.get(mappingId);
      if (!mapped) throw new Error(`the lease of mapping ${mappingId} was not acquired by this store`);
      return mapped;
    },
  };

  const sweeps = sweepStore(store);
  const ask: Ask = (text, values) => session.query(text, values);

  return {
    begin: (request) =>
      inTurn(async () => {
        const { mapped, ...begun } = await begin(store, request);
        if (mapped) known.set(request.mappingId, mapped);
        return begun;
      }),
    renew: (lease, leaseSeconds) => inTurn(() => renew(store, lease, leaseSeconds)),
    recover: (lease) => inTurn(() => recover(store, lease)),
    doubtsIn: (lease, batchId) => inTurn(() => doubtsIn(store, lease, batchId)),
    holdWaiting: (lease, batchId, until) => inTurn(() => holdWaiting(store, lease, batchId, until)),
    rewoundDoubts: (lease) => inTurn(() => rewoundDoubts(store, lease)),
    noteFindings: (lease, findings) => inTurn(() => noteFindings(store, lease, findings)),
    noteLook: (lease, batchId) => inTurn(() => noteLook(store, lease, batchId)),
    claim: (lease, limit) =>
      inTurn(async () => {
        const after = places.get(nameOf(lease)) ?? BEGINNING;
        const claimed = await claim(store, lease, { limit, after });
        places.set(nameOf(lease), claimed.next);
        claims.add(claimed);
        return claimed.changes;
      }),
    markSent: (lease, batchId, ids, leaseSeconds) =>
      inTurn(() => markSent(store, lease, { batchId, ids, leaseSeconds: leaseSeconds ?? null })),
    settle: (lease, outcomes) =>
      inTurn(async () => {
        const ids = outcomes.flatMap(({ changeIds }) => changeIds);
        await settle(store, lease, outcomes, { handled: claims.handledWith(ids), versionOf: claims.versionOf });
        claims.giveBack(ids);
      }),
    requeueOverwritten: (lease, saves) => inTurn(() => requeueOverwritten(store, lease, saves)),
    release: (lease, changeIds) =>
      inTurn(async () => {
        await release(store, lease, changeIds, claims.handledWith(changeIds));
        claims.giveBack(changeIds);
        places.delete(nameOf(lease));
      }),
    apply: (lease, page) => inTurn(() => apply(store, lease, page)),
    compare: (lease, images) => inTurn(() => compare(store, lease, images)),
    countUnmatched: (lease, most) => inTurn(() => countUnmatched(store, lease, most)),
    dryRun: ({ mappingId }) => inTurn(() => readDryRun(ask, tables, mappingId)),
    beginDryRun: (lease, run) =>
      inTurn(async () => {
        const begun = await beginDryRun(ask, tables, lease.mappingId, run);
        if (begun === null) throw new LeaseLost(lease);
        return begun;
      }),
    failDryRun: (mappingId, error) => inTurn(() => failDryRun(store, mappingId, error)),
    saveDryRun: (lease, run) => inTurn(() => saveDryRun(store, lease, run)),
    endRestores: (lease, ended) => inTurn(() => endRestores(store, lease, ended)),
    forgetGone: (lease, sfids) => inTurn(() => forgetGone(store, lease, sfids)),
    unseen: (mappingId, stamps) => inTurn(() => unseen(store, mappingId, stamps)),
    owned: (mappingId, sfids) => inTurn(() => owned(store, mappingId, sfids)),
    knownSfids: (mappingId, sfids) => inTurn(() => knownSfids(store, mappingId, sfids)),
    lastRow: (lease) => inTurn(() => sweeps.lastRow(lease)),
    compareRows: (lease, images, lastRow) => inTurn(() => sweeps.compareRows(lease, images, lastRow)),
    keepComparison: (...asked) => inTurn(() => sweeps.keepComparison(...asked)),
    countRows: (lease, span) => inTurn(() => sweeps.countRows(lease, span)),
    rowsAfter: (lease, span) => inTurn(() => sweeps.rowsAfter(lease, span)),
    pulses: (mappingIds) =>
      inTurn(async () => {
        const found = await pulses(store, mappingIds);
        for (const { mappingId, mapped } of found) if (!known.has(mappingId)) known.set(mappingId, mapped);
        return found.map(({ mapped: _, ...pulse }) => pulse);
      }),
    finish: (lease, end) =>
      inTurn(async () => ({ ...(await finish(store, lease, end)), ...(await readWaiting(store, backlog, false)) })),
    syncStates: (mappingIds) => inTurn(() => syncStates(store, mappingIds)),
    endIdle: (idle) =>
      inTurn(async () => {
        const ended = await endIdle(store, idle);
        if (ended.size === 0) return new Map(); // also where the schema has not our tables
        const waiting = await readWaiting(store, backlog, true);
        return new Map([...ended].map(([mappingId, totals]) => [mappingId, { ...totals, ...waiting }]));
      }),
    addCalls: (mappingId, apiCalls) => inTurn(() => addCalls(store, mappingId, apiCalls)),
    outbox: (limit) => inTurn(() => outbox(store, limit)),
    forget: (eventIds) => inTurn(() => forget(store, eventIds)),
    setAside: (eventId, reason) => inTurn(() => setAside(store, eventId, reason)),
    close: () => session.close(),
  };
}

const nameOf = ({ mappingId, work, fence }: Lease) => `${mappingId} ${work} ${fence}`;

async function unseen(
  { session, tables, mapped }: StoreContext,
  mappingId: string,
  stamps: readonly RecordStamp[],
): Promise<string[]> {
  const { shape, layout } = mapped({ mappingId });
  const stamp = isZoneless(layout, "systemmodstamp") ? "t.systemmodstamp AT TIME ZONE 'UTC'" : "t.systemmodstamp";
  const rows = await session.query<{ sfid: string }>(
    `SELECT s.sfid FROM unnest($1::text[], $2::timestamptz[]) AS s (sfid, stamp)
     WHERE NOT EXISTS (SELECT FROM ${qualified(shape.schema, shape.table)} t WHERE t.sfid::text = s.sfid::text
         AND ${stamp} >= s.stamp)
       AND NOT EXISTS (SELECT FROM ${tables.log} l WHERE l.table_name::text = $3 AND l.sfid::text = s.sfid::text
         AND l.action::text = 'DELETE' AND l.processed_at IS NULL)
       AND NOT EXISTS (SELECT FROM ${tables.tombstones} d WHERE d.mapping_id = $4 AND d.sfid::text = s.sfid::text AND d.stamp >= s.stamp)`,
    [stamps.map(({ sfid }) => sfid), stamps.map(({ systemModstamp }) => systemModstamp), shape.table, mappingId],
  );
  return rows.map(({ sfid }) => sfid);
}

async function owned(
  { session, mapped }: StoreContext,
  mappingId: string,
  sfids: readonly string[],
): Promise<string[]> {
  const { schema, table } = mapped({ mappingId }).shape;
  const rows = await session.query<{ sfid: string }>(
    `SELECT sfid FROM ${qualified(schema, table)} WHERE sfid::text = ANY ($1::text[])`,
    [sfids],
  );
  return rows.map(({ sfid }) => sfid);
}

async function knownSfids(
  { session, tables, mapped }: StoreContext,
  mappingId: string,
  sfids: readonly string[],
): Promise<string[]> {
  const { schema, table } = mapped({ mappingId }).shape;
  const rows = await session.query<{ sfid: string }>(
    `SELECT sfid FROM unnest($1::text[]) AS asked (sfid)
     WHERE EXISTS (SELECT FROM ${qualified(schema, table)} t WHERE t.sfid::text = asked.sfid)
       OR sfid::text IN (SELECT unnest(p.sfids) FROM ${tables.pushed} p WHERE p.mapping_id = $2)`,
    [sfids, mappingId],
  );
  return rows.map(({ sfid }) => sfid);
}

async function pulses(
  { session, tables }: StoreContext,
  mappingIds: readonly string[],
): Promise<(Pulse & { readonly mapped: MappedTable })[]> {
  const rows = await unlessUnprovisioned(
    session.query(
      `SELECT s.mapping_id, s.shape, s.layout, ${watermarkColumns("s", "lo")}, ${iso("s.last_pull_at")} AS last_pull_at
       FROM ${tables.state} s LEFT JOIN ${tables.loads} lo USING (mapping_id)
       WHERE s.mapping_id = ANY ($1::text[])`,
      [mappingIds],
    ),
  );
  return rows.map((row) => ({
    mappingId: String(row["mapping_id"]),
    shape: mappedOf(row).shape,
    marks: watermarksOf(row),
    lastPullAt: instant(row, "last_pull_at"),
    mapped: mappedOf(row),
  }));
}

/** What the events of one page may hold together, as PostgreSQL packs them. */
const OUTBOX_BYTES = 1_000_000;

/** Versions before have kept errors whole, of 100 MB: these are cut here, a few at a time. */
async function outbox({ session, tables }: StoreContext, limit: number): Promise<OutboxEvent[]> {
  const read = `SELECT id, event, ${iso("occurred_at")} AS occurred_at,
         CASE WHEN octet_length(error) > 8192 THEN jsonb_set(detail, '{error}', to_jsonb(${cut("error")})) ELSE detail END AS detail
       FROM (SELECT o.*, row_number() OVER page AS place, sum(pg_column_size(o.detail)) OVER page AS bytes
         FROM ${tables.outbox} o WINDOW page AS (ORDER BY seq) ORDER BY seq LIMIT $1) AS waiting
         CROSS JOIN LATERAL (SELECT detail ->> 'error' AS error OFFSET 0) AS said
       WHERE place = 1 OR bytes <= ${OUTBOX_BYTES} ORDER BY seq`;
  const rows = await unlessUnprovisioned(session.query(read, [limit]));
  const ids = rows.map(({ id }) => String(id));
  if (ids.length > 0) await refuseUndeletable(session, tables, ids);
  return rows.map((row) => ({
    id: String(row["id"]),
    event: row["event"] as OutboxEvent["event"],
    occurredAt: new Date(String(row["occurred_at"])),
    detail: row["detail"] as OutboxEvent["detail"],
  }));
}

/** An event that stays after it was published would be published for ever: it is deleted once in vain before. */
async function refuseUndeletable({ script }: Session, { outbox }: Metadata, ids: readonly string[]): Promise<void> {
  const those = `FROM ${outbox} WHERE id = ANY (${literal(`{${ids.join(",")}}`)}::uuid[])`;
  const tried = await script(`BEGIN; DELETE ${those}; SELECT ${those} LIMIT 1; ROLLBACK`).catch(
    async (error: unknown) => {
      await script("ROLLBACK");
      throw error;
    },
  );
  if (tried[2]?.length !== 0) throw new WriteUndone(outbox);
}

async function forget({ session, tables }: StoreContext, eventIds: readonly string[]): Promise<void> {
  if (eventIds.length === 0) return;
  await session.query(`DELETE FROM ${tables.outbox} WHERE id = ANY ($1::uuid[])`, [eventIds]);
}

/** The first event that needs the table creates it: an older version has none, and nothing else reads it. */
async function setAside({ session, tables, now }: StoreContext, eventId: string, reason: string): Promise<void> {
  await session.query(`CREATE TABLE IF NOT EXISTS ${tables.outboxAside} (
    id uuid PRIMARY KEY, event text NOT NULL, occurred_at timestamptz NOT NULL, detail jsonb NOT NULL,
    reason text NOT NULL, set_aside_at timestamptz NOT NULL)`);
  await session.query(
    `WITH aside AS (DELETE FROM ${tables.outbox} WHERE id = $1 RETURNING id, event, occurred_at, detail)
     INSERT INTO ${tables.outboxAside} SELECT *, $2, $3 FROM aside ON CONFLICT (id) DO NOTHING`,
    [eventId, cutText(reason), now()],
  );
}
