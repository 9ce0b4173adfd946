import type { Budget } from "../../model/calls/budget.ts";
import { isDue } from "../../model/calls/next-pull.ts";
import type { Mapping } from "../../model/mapping/mapping.ts";
import { newTally } from "../cycle/cycle.ts";
import type { CycleReport } from "../cycle/cycle-order.ts";
import { sharedBy } from "../cycle/shared.ts";
import type { CycleStore, MessageNeeds, Salesforce } from "../ports/cycle-ports.ts";
import type { SyncState, Totals } from "../ports/lease-ports.ts";
import { NOTHING_PROBED, type Probed, probe } from "../pull/probe.ts";
import { owesLoad } from "../run-cycle.ts";

/** A mapping's beat; with others of its workspace and slot (epoch seconds) it may cost less. */
export interface Beat {
  readonly mapping: Mapping;
  readonly slot: number;
  readonly budget: Budget;
}

/** The result of a beat before its cycle. */
export interface Looked {
  /** It had nothing to do and has ended; null: its cycle is to run. */
  readonly idle: {
    readonly report: Extract<CycleReport, { readonly ran: true }>;
    readonly usage: ReturnType<Salesforce["usage"]>;
  } | null;
  /** Whether the cycle has to pull; null: it finds out. */
  readonly hasToPull: boolean | null;
  /** Left to another invocation, which has its message. */
  readonly isHandedOver?: true;
}

export const UNKNOWN: Looked = { idle: null, hasToPull: null };

const UNASKED = { reached: null, rewind: null } as const;

/** Stamps by an index of Salesforce's, a page of them. */
const PROBE_MILLISECONDS = 15_000;

/** Once an hour each mapping has a whole cycle, which also takes away what is kept for a time. */
const WHOLE_EVERY_SECONDS = 3_600;

/**
 * Looks at the beats of one workspace and slot together, so that idle mappings cost their database next to nothing: one
 * statement reads the state of all, and one ends those without work. A mapping with work does not wait for the org's
 * answer. Gives the results of those that may be idle, by mapping.
 */
export async function lookAtBeats(
  needs: MessageNeeds,
  beats: readonly Beat[],
): Promise<ReadonlyMap<string, Promise<Looked>>> {
  const [first] = beats;
  if (!first || first.slot % WHOLE_EVERY_SECONDS < 10) return new Map();
  // The only mapping of a workspace costs no less than its cycle.
  const isAlone = async () => (await sharedBy(needs, first.mapping.workspaceId).activeMappings()).length === 1;
  if (beats.length === 1 && (await isAlone())) return new Map();
  const found = await withStore(needs, first, (store) => store.syncStates(beats.map(({ mapping }) => mapping.id)));
  const states = new Map(found.map((one) => [one.mappingId, one]));
  const idle = beats.flatMap((beat) => {
    const where = states.get(beat.mapping.id);
    return where?.isIdle ? [{ ...beat, where }] : [];
  });
  if (idle.length === 0) return new Map();
  const ended = withStore(needs, first, (store) => endTogether(needs, store, idle));
  return new Map(idle.map(({ mapping: { id } }) => [id, ended.then((all) => all(id))]));
}

async function withStore<Answer>(
  { connections }: MessageNeeds,
  { mapping }: Beat,
  ask: (store: CycleStore) => Promise<Answer>,
): Promise<Answer> {
  const store = await connections.openStore(mapping.workspaceId);
  try {
    return await ask(store);
  } finally {
    await store.close();
  }
}

const NOT_COUNTED = { queueDepth: null, oldestWaitingSeconds: null };

interface IdleBeat extends Beat {
  readonly where: SyncState;
}

async function endTogether(
  needs: MessageNeeds,
  store: CycleStore,
  idle: readonly IdleBeat[],
): Promise<(mappingId: string) => Looked> {
  const now = new Date(needs.clock.now());
  const due = idle.filter(({ budget, mapping, where }) => isDue(budget, mapping, where, now));
  const { probed, usage } = await probeFor(needs, store, due);
  const toPull = new Set(probed.toPull);
  const beats = idle.filter(({ mapping }) => !toPull.has(mapping.id));
  // Beats without news are noted once a minute: so an idle mapping writes next to nothing.
  const unnoted = beats.filter(
    ({ mapping: { id, configVersion }, where }) =>
      where.noted?.configVersion !== configVersion || probed.unchanged?.mappingIds.includes(id),
  );
  const isAnyNoted = unnoted.length > 0 || (probed.unchanged?.mappingIds.length ?? 0) > 0;
  const totals = isAnyNoted
    ? await store.endIdle({
        slot: idle[0]?.slot ?? 0,
        beats: unnoted.map(({ mapping: { id, configVersion } }) => ({ mappingId: id, configVersion })),
        unchanged: probed.unchanged,
      })
    : new Map<string, Totals>();
  const ended = new Map(
    beats.flatMap(({ mapping, where }) => {
      const isUnnoted = unnoted.some((one) => one.mapping === mapping);
      const own = isUnnoted ? totals.get(mapping.id) : where.noted && { ...where.noted, ...NOT_COUNTED };
      if (!own) return [];
      const { heldDeletes, marks } = where;
      const well = {
        ran: true,
        tally: newTally(),
        stopped: null,
        error: null,
        ...UNASKED,
        outboxWaits: false,
      } as const;
      return [[mapping.id, { ...well, totals: own, heldDeletes, needsLoad: owesLoad(mapping, marks) }] as const];
    }),
  );
  return (mappingId) => {
    const report = ended.get(mappingId);
    return report ? { idle: { report, usage }, hasToPull: null } : { idle: null, hasToPull: toPull.has(mappingId) };
  };
}

/** Probes for beats that wait for it; the first pays the calls, where they fail its cycle reports the reason. */
async function probeFor(
  needs: MessageNeeds,
  store: CycleStore,
  beats: readonly IdleBeat[],
): Promise<{ readonly probed: Probed; readonly usage: ReturnType<Salesforce["usage"]> }> {
  const [payer] = beats;
  if (!payer) return { probed: NOTHING_PROBED, usage: null };
  const { mapping, budget, slot } = payer;
  const stopReading = new AbortController();
  const { salesforce } = await needs.connections.connectOrg(mapping.workspaceId, stopReading.signal);
  const hold = {
    mayRead: async () => {},
    during: <Answer>(call: (milliseconds: number) => Promise<Answer>) => call(PROBE_MILLISECONDS),
  };
  const asking = { store, salesforce, shared: sharedBy(needs, mapping.workspaceId), clock: needs.clock, hold };
  const waiting = beats.map((beat) => beat.mapping.id);
  try {
    const probed = await probe(asking, { budget, slot, waiting }).catch(() => ({
      ...NOTHING_PROBED,
      toPull: [mapping.id],
    }));
    return { probed, usage: salesforce.usage() };
  } finally {
    stopReading.abort();
    const calls = salesforce.calls();
    if (Object.keys(calls).length > 0) await store.addCalls(mapping.id, calls);
  }
}
