import { LATE_MILLISECONDS } from "../model/beat.ts";
import { allowance } from "../model/budget.ts";
import type { Mapping } from "../model/mapping.ts";
import type { CycleMessage } from "../model/messages.ts";
import { reportCycle } from "./report-cycle.ts";
import { type CycleReport, runCycle } from "./run-cycle.ts";
import type { KeptEngine, MessageNeeds } from "./service-ports.ts";

/** The invocation that answers: its name, and when it ends (epoch milliseconds). */
export interface Invocation {
  readonly owner: string;
  readonly deadline: number;
}

/** Runs the cycle that a message asks for, tells what came of it, and remembers how it ended. */
export async function answerMessage(needs: MessageNeeds, message: CycleMessage, invocation: Invocation): Promise<void> {
  const now = new Date(needs.clock.now());
  if (isLate(message, now)) return;
  const mapping = await needs.mappings.find(message.workspace_id, message.mapping_id);
  if (!mapping || !isRunnable(mapping)) return;
  const { engine, budget } = await needs.engine.read(mapping.workspaceId, mapping.id);
  if (message.kind === "beat" && isResting(engine, now)) return;

  const order = { mapping, kind: message.kind, slot: message.slot, ...invocation };
  const allowed = allowance(budget, mapping.pollingSeconds, now);
  const startedAt = needs.clock.now();
  const store = await needs.connections.openStore(mapping.workspaceId);
  if (!store) return;
  const aborted = new AbortController();
  try {
    const { salesforce, userId } = await needs.connections.connectOrg(mapping.workspaceId, aborted.signal);
    const cycleNeeds = { store, salesforce, clock: needs.clock, random: needs.random };
    const report = await runOrFail(() => runCycle(cycleNeeds, { ...order, userId, allowance: allowed }));
    await reportCycle(needs, { mapping, message, engine, budget, store, salesforce, startedAt }, report);
  } finally {
    aborted.abort();
    await store.close();
  }
}

/** Inactive, or its tables are not made for this version yet: its provisioning sends the first minute itself. */
function isRunnable({ active, deletedAt, provisioning, configVersion }: Mapping): boolean {
  return active && deletedAt === null && provisioning.state === "ready" && provisioning.version === configVersion;
}

function isLate({ kind, slot }: CycleMessage, now: Date): boolean {
  return kind === "beat" && slot !== null && now.getTime() - slot * 1000 > LATE_MILLISECONDS;
}

function isResting({ state }: KeptEngine, now: Date): boolean {
  return state.restUntil !== null && state.restUntil > now;
}

/** A database that cannot be reached is an engine-level error too, and is reported although no lease was had. */
async function runOrFail(run: () => Promise<CycleReport>): Promise<CycleReport | { readonly failedToBegin: unknown }> {
  try {
    return await run();
  } catch (error) {
    return { failedToBegin: error };
  }
}
