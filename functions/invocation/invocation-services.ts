import DataLoader from "dataloader";
import { readRemembered } from "../../lib/adapters/dynamodb/engine/engine.ts";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import type { CycleMessage } from "../../lib/model/messages.ts";
import type { Invocation } from "../../lib/sync/beat/handle-cycle-message.ts";
import { type Beat, type Looked, lookAtBeats, UNKNOWN } from "../../lib/sync/beat/idle-beats.ts";
import type { EngineMemory, MessageNeeds, Remembered } from "../../lib/sync/cycle/cycle-ports.ts";
import { database, rememberedMappings } from "../services/composition.ts";
import { clock, connectionsOf, cycleServices } from "../services/cycle-services.ts";

/** Mappings and workspaces whose last telling one process remembers. */
const MOST_REMEMBERED = 10_000;

/** DynamoDB gives a hundred items in one reading; one is the workspace's head. */
const MAPPINGS_IN_ONE_READING = 99;

/**
 * What the cycles of one invocation need. They ask for it each for themselves; here it is read for all of them together
 * as they are about to begin, and what is the workspace's own is read, claimed and told once. Ends with the invocation.
 */
export function invocationServices(cycles: readonly CycleMessage[]): MessageNeeds {
  const services = cycleServices();
  const mappings = readTogether(cycles, mappingsOf);
  const remembered = readTogether(cycles, rememberedOf);
  return {
    ...services,
    connections: connectionsOf(),
    mappings: { find: mappings, listActive: rememberedMappings().listActive },
    engine: {
      ...services.engine,
      read: remembered,
      claimProbe: oneClaim(services.engine),
      saveBudget: oneTelling(services.engine),
    },
    counters: tellsNews(services.counters),
  };
}

/** Beats of one workspace and slot that are about to begin are looked at together; each waits for what concerns it. */
export function lookTogether(needs: MessageNeeds): Exclude<Invocation["look"], undefined> {
  const loaders = new Map<string, DataLoader<Beat, { readonly coming: Promise<Looked> }>>();
  const lookAt = async (beats: readonly Beat[]) => {
    const looked = await lookAtBeats(needs, beats);
    return beats.map(({ mapping }) => ({ coming: looked.get(mapping.id) ?? Promise.resolve(UNKNOWN) }));
  };
  return async (beat) => {
    const name = `${beat.mapping.workspaceId} ${beat.slot}`;
    const loader = loaders.get(name) ?? new DataLoader(lookAt, { cache: false });
    loaders.set(name, loader);
    return await (await loader.load(beat)).coming;
  };
}

/** Reads for all cycles at once; each takes what was read for it, and whoever asks once more reads anew. */
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
  const found = await perWorkspace(asked, rememberedMappings().read);
  return asked.map(({ workspaceId, mappingId }) => found.get(workspaceId)?.get(mappingId) ?? null);
}

async function rememberedOf(asked: readonly Asked[]): Promise<(Remembered | Error)[]> {
  const found = await perWorkspace(asked, (workspaceId) => readRemembered(database(), workspaceId));
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

/** The cycles of a workspace hear the same count of its org: one writes it down, and whoever hears of another step. */
function oneTelling({ saveBudget }: EngineMemory): EngineMemory["saveBudget"] {
  const steps = new Map<string, number>();
  return async (workspaceId, budget) => {
    if (steps.get(workspaceId) === budget.step) return false;
    steps.set(workspaceId, budget.step);
    return await saveBudget(workspaceId, budget).catch((error: unknown) => {
      steps.delete(workspaceId);
      throw error;
    });
  };
}

/** What this process told last, by what it is about, and when (epoch milliseconds). */
const told = new Map<string, { readonly text: string; readonly at: number }>();

/** Totals that stand are told again this often, in case another process has told an older depth in between. */
const TELL_AGAIN_MILLISECONDS = 600_000;
const DEPTH_AGAIN_MILLISECONDS = 30_000;

/** Writes no total and no depth that this process has written already: idle mappings cost nothing. */
function tellsNews(counters: MessageNeeds["counters"]): MessageNeeds["counters"] {
  const tell = async (name: string, news: unknown, again: number, write: () => Promise<void>) => {
    const text = JSON.stringify(news);
    const last = told.get(name);
    if (last?.text === text && clock.now() - last.at < again) return;
    if (told.size >= MOST_REMEMBERED) told.clear();
    told.set(name, { text, at: clock.now() });
    await write().catch((error: unknown) => {
      told.delete(name);
      throw error;
    });
  };
  return {
    set: (totals, beganAt) =>
      tell(totals.mappingId, totals, TELL_AGAIN_MILLISECONDS, () => counters.set(totals, beganAt)),
    setQueueDepth: (depth, countedAt) =>
      tell(depth.workspaceId, depth.rows, DEPTH_AGAIN_MILLISECONDS, () => counters.setQueueDepth(depth, countedAt)),
  };
}
