import { pulls } from "../../../model/mapping/mapping.ts";
import type { Lease } from "../../../sync/ports/lease-ports.ts";
import type { EndedRestores } from "../../../sync/ports/push-ports.ts";
import { fenced } from "../lease/fence.ts";
import { insertAgain } from "../log/insert-again.ts";
import { name, qualified, type StoreContext } from "../session/sql.ts";

/** Records that are back get the rows that they had, uncaptured; of a mapping that pulls the cycle then reads them again. */
export async function endRestores(store: StoreContext, lease: Lease, { back, refused }: EndedRestores): Promise<void> {
  const { session, tables, now } = store;
  const mapped = store.mapped(lease);
  await fenced(store, lease, { silent: true }, async () => {
    const held = await session.query<{ id: number; record_id: number; sfid: string }>(lastDeletes(store, lease), {
      ...{ mapping: lease.mappingId, table: mapped.shape.table, sfids: back },
    });
    const staying = await insertAgain(session, tables.log, mapped, held);
    const ends = [
      ...refused.map(({ sfid, why }) => ({ sfid, why: `it was not restored: ${why}` })),
      ...staying.map(({ sfid, reason }) => ({ sfid, why: `its row was not restored: ${reason}` })),
    ];
    await session.query(
      `UPDATE ${tables.inboundErrors} e SET error = ended.why, retry_at = NULL, last_at = :now
       FROM unnest(:sfids::text[], :whys::text[]) AS ended (sfid, why) WHERE e.mapping_id = :mapping AND e.sfid::text = ended.sfid`,
      {
        ...{ mapping: lease.mappingId, now: now() },
        ...{ sfids: ends.map(({ sfid }) => sfid), whys: ends.map(({ why }) => why) },
      },
    );
    if (pulls(mapped.shape.direction)) return;
    const stays = new Set(ends.map(({ sfid }) => sfid));
    await session.query(
      `DELETE FROM ${tables.inboundErrors} WHERE mapping_id = :mapping AND sfid::text = ANY (:sfids::text[])`,
      { mapping: lease.mappingId, sfids: back.filter((sfid) => !stays.has(sfid)) },
    );
  });
}

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
