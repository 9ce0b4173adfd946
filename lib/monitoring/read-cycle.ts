import { setTimeout as pause } from "node:timers/promises";
import * as z from "zod/mini";
import type { SealedWorkspace } from "../access/ports.ts";
import { Failure } from "../model/failure.ts";
import type { Mapping } from "../model/mapping/mapping.ts";
import type { CamelCased } from "../model/snake-case.ts";
import type { Monitoring, Polls } from "./ports.ts";
import { withDatabase } from "./with-database.ts";

interface Needs {
  readonly monitoring: Monitoring;
  readonly polls: Polls;
}

interface Asked {
  readonly workspace: SealedWorkspace;
  readonly mapping: Mapping;
  readonly mark: string;
  readonly waitSeconds: number;
}

const count = z.nullable(z.int());
const time = z.nullable(z.iso.datetime());

/** A cycle by its mark. One that was not asked for by poll-now is known to run or to have ended, and nothing else of it. */
export const cycleView = z.object({
  state: z.enum(["waiting", "ended"]),
  asked_at: time,
  ended_at: time,
  pulled: count,
  accepted: count,
  refused: count,
  error: z.nullable(z.string()),
});
type CycleStatus = CamelCased<typeof cycleView>;

/** The mark of the cycle that holds a mapping's lease of this number. */
export const runningMark = (fence: number): string => `lease_${fence}`;

const LOOK_MILLISECONDS = 250;

/** How a cycle is, once it has ended or the time is over. NOT_FOUND where no cycle of the mapping has this mark, or no longer. */
export async function readCycle(needs: Needs, asked: Asked): Promise<CycleStatus> {
  const until = performance.now() + asked.waitSeconds * 1000;
  for (;;) {
    const status = await look(needs, asked);
    if (status.state === "ended" || performance.now() >= until) return status;
    await pause(LOOK_MILLISECONDS);
  }
}

const UNKNOWN = { askedAt: null, endedAt: null, pulled: null, accepted: null, refused: null, error: null };

async function look({ monitoring, polls }: Needs, { workspace, mapping, mark }: Asked): Promise<CycleStatus> {
  const fence = Number(/^lease_(\d{1,15})$/.exec(mark)?.[1] ?? 0);
  if (fence > 0) {
    const lease = await withDatabase(monitoring, workspace, (database) => database.leaseOf(mapping.id));
    if (lease === null || lease.fence < fence) throw unknown();
    return { ...UNKNOWN, state: lease.fence === fence && lease.isHeld ? "waiting" : "ended" };
  }
  const poll = await polls.read(workspace.id, mark);
  if (poll?.mappingId !== mapping.id) throw unknown();
  const { askedAt, outcome } = poll;
  return { ...UNKNOWN, ...outcome, askedAt, state: outcome === null ? "waiting" : "ended" };
}

const unknown = () =>
  new Failure("NOT_FOUND", "the mapping has no cycle with this mark; marks of poll-now are kept for a day");
