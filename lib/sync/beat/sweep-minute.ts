import type { Mappings, OpenImport } from "../../config/ports.ts";
import { hash } from "../../model/beat.ts";
import { type Mapping, migrationOf, pulls } from "../../model/mapping/mapping.ts";
import type { LoadMessage, ProvisioningMessage, Queues } from "../../model/messages.ts";
import type { Clock, Log } from "../ports/cycle-ports.ts";
import type { Schedules } from "../ports/schedule-ports.ts";

/** A change that is not carried out after this long may have lost its message; a second one does no harm. */
const OVERDUE_MILLISECONDS = 60_000;

export interface SweepNeeds {
  readonly mappings: Pick<Mappings, "everywhere">;
  readonly schedules: Schedules;
  /** The last minute of which every mapping was looked at, in minutes since 1970; null before the first. */
  readonly swept: {
    read(): Promise<number | null>;
    keep(minute: number): Promise<void>;
  };
  readonly queues: Pick<Queues, "loads" | "provisioning">;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Repairs what a lost message left behind: active mappings without a schedule, schedules without one, tables not
 * created, imports not carried out. Each mapping at its own minute of the day, fields that changed in Salesforce are
 * followed, and once in `sweep_days` both sides are compared whole; missed minutes are repeated. Gives the active ones.
 */
export async function sweep(needs: SweepNeeds): Promise<readonly Mapping[]> {
  const { mappings, schedules, swept, queues, clock, log } = needs;
  const [scheduled, old] = [new Set<string>(), new Set<string>()];
  for await (const { mappingId, isOld } of schedules.list()) (isOld ? old : scheduled).add(mappingId);
  const minutes = minutesToSweep(await swept.read(), Math.floor(clock.now() / 60_000));
  const active: Mapping[] = [];
  const due: { readonly mapping: Mapping; readonly day: number }[] = [];
  const repaired = { ensured: 0, removed: 0 };
  const open: ProvisioningMessage[] = [];
  for await (const found of mappings.everywhere()) {
    if ("openImport" in found) {
      open.push(carryingOut(found.openImport));
      continue;
    }
    const { mapping } = found;
    active.push(mapping);
    const day = dueDay(mapping, minutes);
    if (day !== null) due.push({ mapping, day });
    if (scheduled.delete(mapping.id)) continue;
    if (mapping.provisioning.state === "ready" && repaired.ensured < MOST_REPAIRS) {
      await schedules.ensure({ workspaceId: mapping.workspaceId, mappingId: mapping.id });
      repaired.ensured += 1;
    } else old.delete(mapping.id); // goes when it has its new one
  }
  for (const mappingId of scheduled) {
    await schedules.remove(mappingId);
    repaired.removed += 1;
  }
  for (const mappingId of [...old].slice(0, MOST_REPAIRS)) {
    await schedules.removeOld(mappingId);
    repaired.removed += 1;
  }
  const late = active.filter((mapping) => isLate(mapping, clock.now()));
  const looks = due.map(({ mapping }) => ({ ...wakeUp(mapping), describe: true }));
  await queues.provisioning.send([...late.map(wakeUp), ...looks, ...open].map((message) => ({ message })));
  const compared = due.filter(({ mapping, day }) => pulls(mapping.syncDirection) && isComparedOn(mapping, day));
  await queues.loads.send(compared.map(({ mapping }) => ({ message: comparison(mapping) })));
  // Last: a sweep that dies is repeated, and to check twice has the same result.
  if (minutes.last > minutes.after) await swept.keep(minutes.last);
  // A mapping that waits for a migration of the application's has lost nothing.
  const overdue = late.filter(({ provisioning }) => migrationOf(provisioning) === null).length;
  if (overdue + open.length + repaired.ensured + repaired.removed === 0) return active;
  log({ level: "warn", event: "sweep", provisioning_overdue: overdue, imports_open: open.length, ...repaired });
  return active;
}

const MINUTES_OF_DAY = 24 * 60;

/** Schedules that one sweep makes: an upgrade replaces those of all mappings, some in each minute. */
const MOST_REPAIRS = 500;

/** Missed minutes that one sweep makes up for: those of a day in 24 sweeps, so that not all mappings come at once. */
const MOST_MINUTES = 60;

/** The minutes after one, up to and with another, since 1970. */
interface Minutes {
  readonly after: number;
  readonly last: number;
}

/** Of more than a day each mapping's minute is missed once. */
function minutesToSweep(swept: number | null, now: number): Minutes {
  const after = Math.max(swept ?? now - 1, now - MINUTES_OF_DAY);
  return { after, last: Math.min(now, after + MOST_MINUTES) };
}

/** The day, since 1970, whose minute of the mapping is among these; null: none is. */
function dueDay({ id }: Mapping, { after, last }: Minutes): number | null {
  const sinceItsFirst = last - (hash(id) % MINUTES_OF_DAY);
  return sinceItsFirst % MINUTES_OF_DAY < last - after ? Math.floor(sinceItsFirst / MINUTES_OF_DAY) : null;
}

/** Mappings of one interval are compared on different days. */
const isComparedOn = ({ id, sweepDays }: Mapping, day: number): boolean => (day + hash(id)) % sweepDays === 0;

function isLate({ provisioning, updatedAt }: Mapping, now: number): boolean {
  return provisioning.state === "pending" && now - updatedAt.getTime() > OVERDUE_MILLISECONDS;
}

function wakeUp({ workspaceId, id }: Mapping): ProvisioningMessage {
  return { workspace_id: workspaceId, mapping_id: id, import_id: null };
}

/** One that is being carried out at this moment is carried out by two, which comes to the same. */
function carryingOut({ workspaceId, id }: OpenImport): ProvisioningMessage {
  return { workspace_id: workspaceId, mapping_id: null, import_id: id };
}

/** What would have been compared between two times without sweeps, and must be now. */
export function missedComparisons(mappings: readonly Mapping[], from: Date, until: Date): readonly LoadMessage[] {
  const [after, last] = [from, until].map((time) => Math.floor(time.getTime() / 60_000)) as [number, number];
  const isMissed = (mapping: Mapping) => {
    const day = dueDay(mapping, { after, last });
    // Deletes leave Salesforce's recycle bin after 15 days: from a day on all is compared, whenever it is due.
    return last - after >= MINUTES_OF_DAY || (day !== null && isComparedOn(mapping, day));
  };
  return mappings.filter((mapping) => pulls(mapping.syncDirection) && isMissed(mapping)).map(comparison);
}

function comparison({ workspaceId, id }: Mapping): LoadMessage {
  return { workspace_id: workspaceId, mapping_id: id, kind: "sweep" };
}
