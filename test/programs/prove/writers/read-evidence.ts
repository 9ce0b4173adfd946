import { setTimeout as pause } from "node:timers/promises";
import type { Evidence } from "./judge.ts";
import { HEAP_FIELDS, type Lane } from "./lanes.ts";
import type { Stage } from "./stage.ts";
import type { Written } from "./write-doubly.ts";

type Values = Readonly<Record<string, string | null>>;

const PATIENCE_MILLISECONDS = 120_000;

/** Pulls until both sides of all lanes are equal, or nothing more can be expected; gives how many records differ. */
export async function untilEqual(stage: Stage, lanes: readonly Lane[]): Promise<number> {
  const deadline = Date.now() + PATIENCE_MILLISECONDS;
  for (;;) {
    await stage.pollAll();
    await pause(3000);
    let differing = 0;
    for (const lane of lanes) {
      const [rows, records] = [await rowsOf(stage, lane), await stage.recordsOf(lane)];
      differing += [...records].filter(([id, record]) =>
        HEAP_FIELDS.some((field) => rows.get(id)?.[field.toLowerCase()] !== record[field]),
      ).length;
    }
    if (differing === 0 || Date.now() > deadline) return differing;
  }
}

/** What both sides, the trigger log, the conflicts and the org's log show of the double writes of a lane. */
export async function readEvidence(
  stage: Stage,
  lane: Lane,
  written: readonly Written[],
): Promise<ReadonlyMap<Written, Evidence>> {
  const { database, log, bridgeUserId } = stage;
  const [rows, records] = [await rowsOf(stage, lane), await stage.recordsOf(lane)];
  const sfids = written.map(({ sfid }) => sfid);
  const changes = await database.query<{ sfid: string; old: Values; values: Values; created_at: Date }>(
    `SELECT sfid, old, "values", created_at FROM salesforce._trigger_log
     WHERE table_name = $1 AND action = 'UPDATE' AND sfid = ANY ($2)`,
    [lane.object, sfids],
  );
  const conflicts = await database.query<Evidence["conflicts"][number] & { sfid: string }>(
    "SELECT sfid, field, postgres, salesforce, winner FROM salesforce._bridge_conflicts WHERE sfid = ANY ($1)",
    [sfids],
  );
  const changesOf = Map.groupBy(changes.rows, ({ sfid }) => sfid);
  const conflictsOf = Map.groupBy(conflicts.rows, ({ sfid }) => sfid);
  const readings = log.readingsOf(lane.object);
  return new Map(
    written.map((write) => {
      const { sfid, field, ours } = write;
      const column = field.toLowerCase();
      const change = changesOf.get(sfid)?.find(({ values }) => values[column] === ours);
      const evidence: Evidence = {
        captured: change ? { at: change.created_at, old: change.old[column] ?? null } : null,
        saves: log.savesOf(sfid),
        readings: readings.filter(({ ids }) => ids === null || ids.has(sfid)),
        bridgeUserId,
        row: rows.get(sfid)?.[column] ?? null,
        record: records.get(sfid)?.[field] ?? null,
        conflicts: conflictsOf.get(sfid) ?? [],
      };
      return [write, evidence] as const;
    }),
  );
}

async function rowsOf({ database }: Stage, { object }: Lane) {
  const { rows } = await database.query<Values>(`SELECT sfid, ${HEAP_FIELDS.join(", ")} FROM salesforce.${object}`);
  return new Map(rows.map((row) => [String(row["sfid"]), row]));
}
