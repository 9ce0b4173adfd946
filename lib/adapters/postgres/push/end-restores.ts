import { MAX_RETRIES } from "../../../model/change/row-error.ts";
import { pulls } from "../../../model/mapping/mapping.ts";
import { NOT_RESTORED, RESTORE } from "../../../model/record/restore-row.ts";
import type { Lease } from "../../../sync/ports/lease-ports.ts";
import type { EndedRestores } from "../../../sync/ports/push-ports.ts";
import { fenced } from "../lease/fence.ts";
import { insertAgain } from "../log/insert-again.ts";
import { literal, name, qualified, type StoreContext } from "../session/sql.ts";

/**
 * Records that are back get the rows that they had, uncaptured; of a mapping that pulls the cycle then reads them again.
 * What may pass is asked for again after 1, 2, 4, 8 and 16 minutes.
 */
export async function endRestores(store: StoreContext, lease: Lease, { back, left }: EndedRestores): Promise<void> {
  const { session, tables, now } = store;
  const mapped = store.mapped(lease);
  await fenced(store, lease, { silent: true }, async () => {
    const held = await session.query<{ id: number; record_id: number; sfid: string }>(lastDeletes(store, lease), {
      ...{ mapping: lease.mappingId, table: mapped.shape.table, sfids: back },
    });
    const staying = await insertAgain(session, tables.log, mapped, held);
    const ends = [
      ...left.map(({ sfid, why, mayPass }) => ({ sfid, mayPass, why: `${NOT_RESTORED}: ${why}` })),
      ...staying.map(({ sfid, reason }) => ({ sfid, mayPass: false, why: `its row was not restored: ${reason}` })),
    ];
    await session.query(
      `UPDATE ${tables.inboundErrors} e SET last_at = :now, attempts = e.attempts + 1,
         error = CASE WHEN ${isAskedAgain} THEN ${literal(`${RESTORE}: `)} || ended.why ELSE ended.why END,
         retry_at = CASE WHEN ${isAskedAgain}
           THEN :now::timestamptz + interval '30 s' * power(2::float8, e.attempts::float8) END
       FROM unnest(:sfids::text[], :whys::text[], :mayPass::bool[]) AS ended (sfid, why, may_pass)
       WHERE e.mapping_id = :mapping AND e.sfid::text = ended.sfid`,
      {
        ...{ mapping: lease.mappingId, now: now(), sfids: ends.map(({ sfid }) => sfid) },
        ...{ whys: ends.map(({ why }) => why), mayPass: ends.map(({ mayPass }) => mayPass) },
      },
    );
    const stays = new Set(ends.map(({ sfid }) => sfid));
    const done = { mapping: lease.mappingId, sfids: back.filter((sfid) => !stays.has(sfid)) };
    const areDone = "mapping_id = :mapping AND sfid::text = ANY (:sfids::text[])";
    if (pulls(mapped.shape.direction)) {
      const read = "the record is out of the recycle bin and is read again";
      await session.query(`UPDATE ${tables.inboundErrors} SET error = :read WHERE ${areDone}`, { ...done, read });
    } else await session.query(`DELETE FROM ${tables.inboundErrors} WHERE ${areDone}`, done);
  });
}

/** The first attempt is the one that was asked for. */
const isAskedAgain = `ended.may_pass AND e.attempts <= ${MAX_RETRIES}`;

/** The last deletes of records' rows that are not there, by their tombstones. */
function lastDeletes({ tables, mapped }: StoreContext, lease: Lease): string {
  const { shape, layout } = mapped(lease);
  const table = qualified(shape.schema, shape.table);
  return `SELECT l.id, l.record_id, l.sfid FROM unnest(:sfids::text[]) AS back (sfid)
    CROSS JOIN LATERAL (SELECT record_id FROM ${tables.tombstones} d
      WHERE d.mapping_id = :mapping AND d.sfid::text = back.sfid ORDER BY d.id DESC LIMIT 1) gone
    CROSS JOIN LATERAL (SELECT id, record_id, sfid FROM ${tables.log} l WHERE l.table_name::text = :table
      AND l.record_id = gone.record_id AND l.processed_at IS NOT NULL AND l.action::text = 'DELETE' AND l.sfid::text = back.sfid
      ORDER BY l.id DESC LIMIT 1) l
    WHERE NOT EXISTS (SELECT FROM ${table} t WHERE t.sfid::text = back.sfid)
      AND NOT EXISTS (SELECT FROM ${table} t WHERE t.${name(layout.key)} = l.record_id)`;
}
