import pLimit from "p-limit";
import type { SealedWorkspace, Workspaces } from "../access/ports.ts";
import { LOOKED_AT_DELIVERIES, outcomesOf } from "../model/delivery/delivery.ts";
import { describeFault } from "../model/fault.ts";
import { type Mapping, pulls } from "../model/mapping/mapping.ts";
import { stallOf } from "../model/stall.ts";
import { DatabaseUnavailable, type Monitoring } from "../monitoring/ports.ts";
import type { Deliveries, Webhooks } from "../webhooks/ports.ts";
import type { Counters, Figures, KeepFigures, MappingFigures } from "./ports.ts";

interface Needs {
  readonly workspaces: Pick<Workspaces, "list">;
  readonly counters: Pick<Counters, "queueDepth" | "setQueueDepth">;
  readonly mappings: { listActive(workspaceId: string): Promise<readonly Mapping[]> };
  readonly webhooks: Pick<Webhooks, "list">;
  readonly deliveries: Pick<Deliveries, "since">;
  readonly figures: KeepFigures;
  readonly monitoring: Monitoring;
  /** Has the workspace's schema upgraded, which the message says from which version to which. */
  readonly askForUpgrade: (workspaceId: string, message: string) => Promise<void>;
  readonly now: () => Date;
  /** One line of the log. */
  readonly log: (line: Readonly<Record<string, unknown>>) => void;
}

/** Cycles count once a minute, with some jitter: what is older was counted by none. */
const FRESH_MILLISECONDS = 90_000;

/** Databases that are asked at once; one that hangs takes 15 s of one of these places. */
const AT_ONCE = 20;

interface Subject {
  readonly workspace: SealedWorkspace;
  readonly active: readonly Mapping[];
  /** Milliseconds since its rows were counted. */
  readonly age: number;
}

/**
 * Collects every workspace's figures for the metrics, of its active mappings and webhooks, and counts the rows in state
 * NEW where no cycle has done so, because no mapping is active, or its cycles rest or cannot begin. A workspace that
 * cannot be asked keeps its last figures, and comes last the next time.
 */
export async function collectFigures(needs: Needs, isTimeUp: () => boolean = () => false): Promise<void> {
  const { workspaces, counters, mappings, now, log } = needs;
  const subjects: Subject[] = [];
  const orReport = async (workspaceId: string, work: Promise<unknown>) => {
    try {
      await work;
    } catch (error) {
      // The workspace's health shows its database; the rest is in this line alone.
      if (error instanceof DatabaseUnavailable) return;
      log({ level: "error", event: "figures", workspace_id: workspaceId, fault: describeFault(error) });
    }
  };
  const know = async (workspace: SealedWorkspace) => {
    const [{ countedAt }, active] = await Promise.all([
      counters.queueDepth(workspace.id),
      mappings.listActive(workspace.id),
    ]);
    subjects.push({ workspace, active, age: now().getTime() - (countedAt?.getTime() ?? 0) });
  };
  const atOnce = pLimit(AT_ONCE);
  await atOnce.map(await workspaces.list(), (workspace) => orReport(workspace.id, know(workspace)));
  const youngestFirst = subjects.toSorted((one, other) => one.age - other.age);
  await atOnce.map(youngestFirst, async (subject) => {
    if (!isTimeUp()) await orReport(subject.workspace.id, collectFor(needs, subject));
  });
}

async function collectFor(needs: Needs, subject: Subject): Promise<void> {
  const { id } = subject.workspace;
  const active = (await needs.webhooks.list(id)).filter((webhook) => webhook.active);
  const anHourAgo = new Date(needs.now().getTime() - 3_600_000);
  const webhooks = await Promise.all(
    active.map(async (webhook) => ({
      id: webhook.id,
      isFailing: webhook.failingSince !== null,
      deliveries: outcomesOf(
        (await needs.deliveries.since(webhook.id, anHourAgo, { limit: LOOKED_AT_DELIVERIES })).rows,
      ),
    })),
  );
  let mappings: Figures["mappings"] = subject.active.length === 0 ? [] : undefined;
  try {
    mappings = await readDatabase(needs, subject);
  } finally {
    await needs.figures.set(id, { mappings, webhooks });
  }
}

/** What the customer's database says of the active mappings that have their tables. */
async function readDatabase(
  { counters, monitoring, askForUpgrade, now }: Needs,
  { workspace: { id, open }, active, age }: Subject,
): Promise<readonly MappingFigures[]> {
  const isStale = age >= FRESH_MILLISECONDS;
  const { postgres } = await open();
  if (postgres === null || (!isStale && active.length === 0)) return [];
  const countedAt = now();
  const database = await monitoring.open(postgres);
  const upgrade = await database.upgrade();
  if (upgrade !== null) await askForUpgrade(id, upgrade);
  if (isStale) await counters.setQueueDepth({ workspaceId: id, ...(await database.countNew()) }, countedAt);
  if (active.length === 0) return [];
  const seen = new Map(
    (await database.mappingFigures(active.map(({ id: mappingId }) => mappingId))).map((one) => [one.id, one]),
  );
  const signs = new Map((await database.signs()).map((one) => [one.id, one]));
  return active.flatMap((mapping) => {
    const { id: mappingId, sfObject, syncDirection, notifyEnabled } = mapping;
    const [figures, sign] = [seen.get(mappingId), signs.get(mappingId)];
    const rings = notifyEnabled && pulls(syncDirection);
    const stalled = sign !== undefined && stallOf(mapping, sign, countedAt) !== null;
    const running = sign?.isRunning;
    return figures ? [{ ...figures, object: sfObject, running, stalled, ...(rings && { rings }) }] : [];
  });
}
