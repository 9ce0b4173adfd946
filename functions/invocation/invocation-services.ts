import DataLoader from "dataloader";
import { readStored } from "../../lib/adapters/dynamodb/engine/engine.ts";
import { chunks } from "../../lib/model/chunks.ts";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import {
  CYCLES_AT_ONCE,
  type CycleMessage,
  type CyclesMessage,
  cyclesMessage,
  type Outgoing,
} from "../../lib/model/messages.ts";
import type { Invocation } from "../../lib/sync/beat/handle-cycle-message.ts";
import { type Beat, type Looked, lookAtBeats, UNKNOWN } from "../../lib/sync/beat/idle-beats.ts";
import type { EngineMemory, MessageNeeds, StoredEnds } from "../../lib/sync/ports/cycle-ports.ts";
import { cachedMappings, database } from "../services/composition.ts";
import { clock, connectionsOf, cycleServices } from "../services/cycle-services.ts";

/** Mappings and workspaces whose last report one process caches. */
const MOST_REPORTED = 10_000;

/** DynamoDB gives a hundred items in one reading; one is the workspace's head. */
const MAPPINGS_IN_ONE_READING = 99;

/**
 * What the cycles of one invocation need. Each asks for its own; here it is read for all of them together as they are
 * about to begin, and what is the workspace's own is read, claimed and reported once. Ends with the invocation.
 */
export function invocationServices(cycles: readonly CycleMessage[]): MessageNeeds {
  const services = cycleServices();
  const mappings = readTogether(cycles, mappingsOf);
  const storedEnds = readTogether(cycles, storedEndsOf);
  return {
    ...services,
    connections: connectionsOf(),
    mappings: { find: mappings, listActive: cachedMappings().listActive },
    engine: {
      ...services.engine,
      read: storedEnds,
      claimProbe: oneClaim(services.engine),
      saveBudget: oneTelling(services.engine),
    },
    counters: tellsNews(services.counters),
  };
}

/** Beats of one workspace and slot that are about to begin are looked at together; each waits for what concerns it. */
export function lookTogether(needs: MessageNeeds): Exclude<Invocation["look"], undefined> {
  const loaders = new Map<string, DataLoader<Beat, { readonly coming: Promise<Looked> }>>();
  const readBeats = async (beats: readonly Beat[]) => {
    const looked = await lookAtBeats(needs, beats);
    return beats.map(({ mapping }) => ({ coming: looked.get(mapping.id) ?? Promise.resolve(UNKNOWN) }));
  };
  return async (beat) => {
    const name = `${beat.mapping.workspaceId} ${beat.slot}`;
    const loader = loaders.get(name) ?? new DataLoader(readBeats, { cache: false });
    loaders.set(name, loader);
    return await (await loader.load(beat)).coming;
  };
}

/** A beat that this invocation leaves to another one; `hasNews`: the probe of its slot has found something to pull. */
export interface Left extends Beat {
  readonly hasNews: boolean;
}

/** Leaves beats to other invocations, those that come at the same time in common messages. */
export function handOverTogether({ queues }: MessageNeeds): (beat: Left) => Promise<void> {
  const loader = new DataLoader<Left, null>(
    async (beats) => {
      await queues.cycles.send(messagesFor(beats));
      return beats.map(() => null);
    },
    { cache: false },
  );
  return async (beat) => void (await loader.load(beat));
}

/** As many mappings in each as an invocation works on at once. A pull, because its slot's probe is not asked twice. */
function messagesFor(beats: readonly Left[]): readonly Outgoing<CyclesMessage>[] {
  const groups = Map.groupBy(beats, ({ mapping, slot, hasNews }) => `${mapping.workspaceId} ${slot} ${hasNews}`);
  return [...groups.values()].flatMap((some) => {
    const [{ mapping: { workspaceId = "" } = {}, slot = 0, hasNews = false } = {}] = some;
    const asked = hasNews ? ({ kind: "pull", slot: null } as const) : ({ kind: "beat", slot } as const);
    return chunks(some, CYCLES_AT_ONCE).map((group) => ({
      message: cyclesMessage(
        group.map(({ mapping }) => mapping.id),
        { workspace_id: workspaceId, ...asked },
      ),
      delaySeconds: 0,
    }));
  });
}

/** Reads for all cycles at once; each uses what was read for it, and a second read is a new one. */
function readTogether<Read>(
  cycles: readonly CycleMessage[],
  readAll: (asked: readonly Asked[]) => Promise<(Read | Error)[]>,
): (workspaceId: string, mappingId: string) => Promise<Read> {
  const loader = new DataLoader<Asked, Read, string>(readAll, {
    cacheKeyFn: ({ workspaceId, mappingId }) => `${workspaceId} ${mappingId}`,
    maxBatchSize: MAPPINGS_IN_ONE_READING,
  });
  loader.loadMany(cycles.map(({ workspace_id, mapping_id }) => ({ workspaceId: workspace_id, mappingId: mapping_id })));
  return (workspaceId, mappingId) => {
    const read = loader.load({ workspaceId, mappingId });
    loader.clear({ workspaceId, mappingId });
    return read;
  };
}

interface Asked {
  readonly workspaceId: string;
  readonly mappingId: string;
}

async function mappingsOf(asked: readonly Asked[]): Promise<(Mapping | null)[]> {
  const found = await perWorkspace(asked, cachedMappings().read);
  return asked.map(({ workspaceId, mappingId }) => found.get(workspaceId)?.get(mappingId) ?? null);
}

async function storedEndsOf(asked: readonly Asked[]): Promise<(StoredEnds | Error)[]> {
  const found = await perWorkspace(asked, (workspaceId) => readStored(database(), workspaceId));
  return asked.map(
    ({ workspaceId, mappingId }) =>
      found.get(workspaceId)?.(mappingId) ?? new Error(`nothing was read of workspace ${workspaceId}`),
  );
}

async function perWorkspace<Read>(
  asked: readonly Asked[],
  read: (workspaceId: string, mappingIds: readonly string[]) => Promise<Read>,
): Promise<ReadonlyMap<string, Read>> {
  const groups = Map.groupBy(asked, ({ workspaceId }) => workspaceId);
  const readings = [...groups].map(async ([workspaceId, some]) => {
    const ids = [...new Set(some.map(({ mappingId }) => mappingId))];
    return [workspaceId, await read(workspaceId, ids)] as const;
  });
  return new Map(await Promise.all(readings));
}

/** The first cycle of a workspace and slot asks for the probe; those beside it know that it is claimed. */
function oneClaim({ claimProbe }: EngineMemory): EngineMemory["claimProbe"] {
  const asked = new Set<string>();
  return async (workspaceId, slot) => {
    const name = `${workspaceId} ${slot}`;
    if (asked.has(name)) return false;
    asked.add(name);
    return claimProbe(workspaceId, slot);
  };
}

/** The cycles of a workspace get the same count of its org: one plans by it and stores it. */
function oneTelling({ saveBudget }: EngineMemory): EngineMemory["saveBudget"] {
  const reported = new Set<string>();
  return async (workspaceId, make) => {
    if (reported.has(workspaceId)) return null;
    reported.add(workspaceId);
    return await saveBudget(workspaceId, make).catch((error: unknown) => {
      reported.delete(workspaceId);
      throw error;
    });
  };
}

/** What this process reported last, by subject, and when (epoch milliseconds). */
const reported = new Map<string, { readonly text: string; readonly at: number }>();

/** Unchanged totals are reported again this often, in case another process has reported an older depth in between. */
const REPORT_AGAIN_MILLISECONDS = 600_000;
const DEPTH_AGAIN_MILLISECONDS = 30_000;

/** Writes no total and no depth that this process has written already: idle mappings cost nothing. */
function tellsNews(counters: MessageNeeds["counters"]): MessageNeeds["counters"] {
  const report = async (name: string, news: unknown, again: number, write: () => Promise<void>) => {
    const text = JSON.stringify(news);
    const last = reported.get(name);
    if (last?.text === text && clock.now() - last.at < again) return;
    if (reported.size >= MOST_REPORTED) reported.clear();
    reported.set(name, { text, at: clock.now() });
    await write().catch((error: unknown) => {
      reported.delete(name);
      throw error;
    });
  };
  return {
    hours: counters.hours,
    set: (totals, beganAt, reached) =>
      report(totals.mappingId, totals, REPORT_AGAIN_MILLISECONDS, () => counters.set(totals, beganAt, reached)),
    setQueueDepth: (depth, countedAt) =>
      report(depth.workspaceId, depth.rows, DEPTH_AGAIN_MILLISECONDS, () => counters.setQueueDepth(depth, countedAt)),
  };
}
