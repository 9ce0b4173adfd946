import { REWOUND } from "../../../model/change/rewound.ts";
import { pulls } from "../../../model/mapping/mapping.ts";
import type { Doubt, Finding } from "../../../sync/ports/doubt-ports.ts";
import type { Lease } from "../../../sync/ports/lease-ports.ts";
import type { PushOutcome } from "../../../sync/ports/push-ports.ts";
import { fenced } from "../lease/fence.ts";
import { changesFrom } from "../log/change-rows.ts";
import { isPending, registerUnregistered } from "../log/change-states.ts";
import { writeInboundErrors } from "../pull/inbound-errors.ts";
import { numberArray, type StoreContext } from "../session/sql.ts";
import { doubtsOf } from "./recover.ts";

/** Rows whose changes are looked up together. */
const ROWS_AT_ONCE = 1_000;

/** What waits becomes PENDING, as if it had been sent now; of a restored database also what was under way. */
export async function holdWaiting(
  store: StoreContext,
  lease: Lease,
  batchId: string,
  until: Date | null,
): Promise<void> {
  const { session, tables, now } = store;
  await fenced(store, lease, {}, async () => {
    await session.query(
      `UPDATE ${tables.log} SET state = 'PENDING', fence = :fence, batch_id = :batch, sent_at = :now, updated_at = :now,
         due_at = NULL, sf_message = NULL
       WHERE table_name::text = :table AND processed_at IS NULL AND NOT held
         AND created_at <= coalesce(:until::timestamptz, created_at) AND (state::text = 'NEW' OR (:batch = :rewound AND NOT starts_with(coalesce(batch_id, ''), :rewound)))`,
      {
        ...{ table: store.mapped(lease).shape.table, fence: lease.fence, batch: batchId },
        ...{ now: now(), until, rewound: REWOUND },
      },
    );
    await session.query(registerUnregistered(tables));
  });
}

/** Restored changes of which nothing was found yet, some rows at a time; all of a row together. */
export async function rewoundDoubts(store: StoreContext, lease: Lease): Promise<readonly Doubt[]> {
  const { session, tables } = store;
  const mapped = store.mapped(lease);
  const isRewound = `l.table_name::text = $1 AND ${isPending(tables, "l", "table_name::text = $1")} AND l.batch_id = $3`;
  const rows = await fenced(store, lease, {}, () =>
    session.query(
      `WITH picked AS MATERIALIZED (
         SELECT DISTINCT l.record_id FROM ${tables.log} l WHERE ${isRewound} AND l.sf_message IS NULL LIMIT ${ROWS_AT_ONCE}
       ), doubtful AS (
         UPDATE ${tables.log} l SET fence = $2 WHERE ${isRewound} AND l.record_id IN (SELECT record_id FROM picked) RETURNING l.*
       )
       ${changesFrom("doubtful", mapped)}`,
      [mapped.shape.table, lease.fence, REWOUND],
    ),
  );
  return doubtsOf(rows);
}

/** Writes down what was found of restored changes. */
export async function noteFindings(store: StoreContext, lease: Lease, findings: readonly Finding[]): Promise<void> {
  const each = findings.flatMap(({ changeIds, message }) => changeIds.map((id) => ({ id, message })));
  if (each.length === 0) return;
  await fenced(store, lease, {}, () =>
    store.session.query(
      `UPDATE ${store.tables.log} l SET sf_message = f.message
       FROM jsonb_to_recordset($1::jsonb) AS f (id bigint, message text) WHERE l.id = f.id AND l.fence = $2`,
      [JSON.stringify(each), lease.fence],
    ),
  );
}

/**
 * In the caller's transaction: has the records be read again for which changes were given up, and later changes of their
 * rows count from what Salesforce held, not from values that it never got.
 */
export async function giveUp(store: StoreContext, lease: Lease, outcomes: readonly PushOutcome[]): Promise<void> {
  const given = outcomes.filter((outcome) => outcome.kind === "givenUp");
  if (given.length === 0) return;
  const { session, tables, now } = store;
  const { shape } = store.mapped(lease);
  await session.query(
    `UPDATE ${tables.log} later SET old = later.old || (
         SELECT coalesce(jsonb_object_agg(o.key, o.value), '{}') FROM jsonb_each(given.old) o
         WHERE later.old -> o.key = given."values" -> o.key)
     FROM (SELECT l.record_id, max(l.id) AS id, jsonb_object_agg(o.key, o.value ORDER BY l.id DESC) AS old,
         jsonb_object_agg(o.key, l."values" -> o.key ORDER BY l.id) AS "values"
       FROM ${tables.log} l, jsonb_each(l.old) o WHERE l.id = ANY ($2::bigint[]) GROUP BY 1) given
     WHERE later.table_name::text = $1 AND later.record_id = given.record_id AND later.id > given.id AND later.processed_at IS NULL`,
    [shape.table, numberArray(given.flatMap(({ changeIds }) => changeIds))],
  );
  if (!pulls(shape.direction)) return;
  const sfids = given.flatMap(({ sfid }) => sfid ?? []);
  const errors = sfids.map((sfid) => ({ sfid, error: READ_AGAIN, sqlState: null, retryAt: now() }));
  await writeInboundErrors(store, lease, errors);
}

const READ_AGAIN = "a change of its row was given up after a restore; the record is read again";
