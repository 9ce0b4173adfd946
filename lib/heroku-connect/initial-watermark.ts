import { type MappedTable, metadata, qualified, type Session } from "../adapters/postgres/session/sql.ts";
import { pulls } from "../model/mapping/mapping.ts";
import { type LoadCheckpoint, UNSTARTED } from "../sync/ports/load-ports.ts";

/** Heroku Connect asks up to the present, so it may have missed what was committed this long after its stamp. */
const OVERLAP_SECONDS = 15 * 60;

/** Salesforce lists deletions for fifteen days. */
const DELETIONS_DAYS = 14;

/**
 * A table that Heroku Connect has filled is not read again: pulls start from its newest stamp, in the caller's
 * transaction, and the records of its rows are looked up by id once. Columns that it did not have are filled by a
 * backfill. A table without a stamp has its first load like any other, and so has one with a filter, which Heroku
 * Connect has none of.
 */
export async function startFromHerokuConnect(
  session: Session,
  { shape }: MappedTable,
  addedColumns: readonly string[],
  at: Date,
): Promise<void> {
  if (!pulls(shape.direction) || shape.filter !== null) return;
  const { state, loads } = metadata(shape.schema);
  const mark = JSON.stringify(addedColumns.length > 0 ? BACKFILL : LOOK_UP);
  await session.query(
    `WITH newest AS (
       SELECT max(systemmodstamp)::timestamptz - make_interval(secs => :overlap) AS stamp
       FROM ${qualified(shape.schema, shape.table)} WHERE sfid IS NOT NULL
     ), started AS (
       UPDATE ${state} s SET position = newest.stamp,
         deleted = greatest(newest.stamp, :now::timestamptz - make_interval(days => :days))
       FROM newest WHERE s.mapping_id = :mapping AND s.position IS NULL AND newest.stamp IS NOT NULL
       RETURNING s.mapping_id
     )
     UPDATE ${loads} l SET load = :load::jsonb FROM started WHERE l.mapping_id = started.mapping_id`,
    { mapping: shape.mappingId, overlap: OVERLAP_SECONDS, days: DELETIONS_DAYS, load: mark, now: at },
  );
}

const BACKFILL: LoadCheckpoint = { ...UNSTARTED, kind: "backfill" };
/** A sweep whose first half, which reads everything, counts as done. */
const LOOK_UP: LoadCheckpoint = { ...UNSTARTED, kind: "sweep", afterRow: 0 };
