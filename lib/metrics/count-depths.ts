import type { SealedWorkspace, Workspaces } from "../access/ports.ts";
import { describeFault } from "../model/fault.ts";
import { DatabaseUnavailable, type Monitoring } from "../monitoring/ports.ts";
import type { Counters } from "./ports.ts";

interface Needs {
  readonly workspaces: Pick<Workspaces, "list">;
  readonly counters: Pick<Counters, "queueDepth" | "setQueueDepth">;
  readonly monitoring: Monitoring;
  readonly now: () => Date;
  /** One line of the log. */
  readonly log: (line: Readonly<Record<string, unknown>>) => void;
}

/** Cycles count once a minute, with some jitter: what is older was counted by none. */
const FRESH_MILLISECONDS = 90_000;

/** Databases that are asked at once; one that hangs takes 15 s of one of these places. */
const AT_ONCE = 20;

/**
 * Counts the rows in state NEW of every workspace whose cycles have not done so: no mapping is active, or its cycles rest
 * or cannot begin. A workspace that cannot be counted keeps its last count, and comes last the next time.
 */
export async function countDepths(needs: Needs, isTimeUp: () => boolean = () => false): Promise<void> {
  const { workspaces, counters, now, log } = needs;
  const stale: { readonly workspace: SealedWorkspace; readonly age: number }[] = [];
  await someAtOnce(await workspaces.list(), async (workspace) => {
    const { countedAt } = await counters.queueDepth(workspace.id);
    const age = now().getTime() - (countedAt?.getTime() ?? 0);
    if (age >= FRESH_MILLISECONDS) stale.push({ workspace, age });
  });
  const youngestFirst = stale.toSorted((one, other) => one.age - other.age);
  await someAtOnce(youngestFirst, async ({ workspace }) => {
    if (isTimeUp()) return;
    try {
      await countOne(needs, workspace);
    } catch (error) {
      // The workspace's health tells of its database; of the rest only this line does.
      if (error instanceof DatabaseUnavailable) return;
      log({ level: "error", event: "count", workspace_id: workspace.id, fault: describeFault(error) });
    }
  });
}

async function countOne({ counters, monitoring, now }: Needs, { id, open }: SealedWorkspace): Promise<void> {
  const { postgres } = await open();
  if (postgres === null) return;
  const countedAt = now();
  await using database = await monitoring.open(postgres);
  await counters.setQueueDepth({ workspaceId: id, rows: await database.countNew() }, countedAt);
}

async function someAtOnce<Thing>(things: readonly Thing[], work: (thing: Thing) => Promise<void>): Promise<void> {
  const left = things.values();
  const place = async () => {
    for (const next of left) await work(next);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, place));
}
