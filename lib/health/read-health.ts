import type { Pauses, SealedWorkspace } from "../access/ports.ts";
import type { Mappings } from "../config/ports.ts";
import type { Counters } from "../metrics/ports.ts";
import type { Signs } from "../model/stall.ts";
import { reportPause } from "../model/workspace/pause.ts";
import { allows, type Scope } from "../model/workspace/token.ts";
import { addressOf, type PostgresConnection } from "../model/workspace/workspace.ts";
import { type DatabaseState, DatabaseUnavailable, type Monitoring } from "../monitoring/ports.ts";
import type { Webhooks } from "../webhooks/ports.ts";
import { findIncidents } from "./find-incidents.ts";
import { type DatabaseCheck, databaseHealth, orgHealth, syncStatus } from "./judge.ts";
import type { EngineReports, OrgReach } from "./ports.ts";

interface Needs {
  readonly mappings: Pick<Mappings, "list">;
  readonly monitoring: Monitoring;
  readonly engine: EngineReports;
  readonly reach: OrgReach;
  readonly counters: Pick<Counters, "queueDepth">;
  readonly pauses: Pauses;
  readonly webhooks: Pick<Webhooks, "list">;
  readonly now: () => Date;
}

/** Tries of a check until the database counts as down. */
const TRIES = 3;

/** A check that has not answered by then has failed: health must answer at once. */
const CHECK_MILLISECONDS = 8000;

/** The health of a workspace (contract 2.3): live checks of both sides, and what the engine last met; with its incidents as these scopes may see them. */
export async function readHealth(needs: Needs, workspace: SealedWorkspace, scopes: readonly Scope[] | null) {
  const { postgres, salesforce } = await workspace.open();
  const [database, reachable, engine, listing, pause, webhooks] = await Promise.all([
    postgres && checkDatabase(needs.monitoring, postgres),
    salesforce ? needs.reach.isReachable(salesforce) : false,
    needs.engine.read(workspace.id),
    needs.mappings.list(workspace.id),
    needs.pauses.find(workspace.id),
    needs.webhooks.list(workspace.id),
  ]);
  const active = listing.mappings.filter((mapping) => mapping.active);
  const reports = engine.mappings.filter(({ mappingId }) => active.some(({ id }) => id === mappingId));
  const seen = database?.answered ? database : null;
  const connected = postgres !== null && salesforce !== null;
  const found = {
    ...{ mappings: listing.mappings, paused: pause !== null, engine, database: seen, webhooks },
    ...{ address: postgres && scopes && allows(scopes, "admin") ? addressOf(postgres) : null, orgAnswers: reachable },
  };
  const incidents = connected ? findIncidents(found, needs.now()) : [];
  return {
    pg: { status: databaseHealth(database), latency_ms: database?.latencyMilliseconds ?? 0 },
    sf: {
      status: orgHealth({
        everConnected: salesforce !== null && salesforce.accessToken !== null,
        reachable,
        reports,
        usage: engine.usage,
      }),
      org_id: salesforce?.organizationId ?? "",
    },
    sync: {
      status: syncStatus({
        stalled: incidents.some(({ stops }) => stops),
        connected,
        paused: pause !== null,
        activeMappings: active.length,
        reports,
      }),
      last_run_at: seen?.lastRunAt?.toISOString() ?? null,
      pending_rows: seen?.waitingRows ?? (await needs.counters.queueDepth(workspace.id)).rows,
      ...(pause && { pause: reportPause(pause) }),
      ...(database?.upgrade && { upgrade: engine.upgradeRefusal ?? database.upgrade }),
    },
    ...(scopes !== null && {
      incidents: incidents.map(({ since, nextTryAt, ...one }) => ({
        ...one,
        since: since?.toISOString() ?? null,
        next_try_at: nextTryAt?.toISOString() ?? null,
      })),
    }),
  };
}

type Seen = DatabaseCheck & { readonly upgrade: string | null } & (
    | ({ readonly answered: true; readonly signs: readonly Signs[] } & DatabaseState)
    | { readonly answered: false; readonly latencyMilliseconds: number }
  );

async function checkDatabase(monitoring: Monitoring, postgres: PostgresConnection): Promise<Seen> {
  const started = performance.now();
  const elapsed = () => Math.round(performance.now() - started);
  const deadline = Promise.withResolvers<Seen>();
  const tooLate = () => deadline.resolve({ answered: false, upgrade: null, latencyMilliseconds: elapsed() });
  const timer = setTimeout(tooLate, CHECK_MILLISECONDS);
  const asked = askUpToThreeTimes(monitoring, postgres, elapsed);
  asked.catch(() => undefined); // what comes after the deadline is dropped
  try {
    return await Promise.race([asked, deadline.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function askUpToThreeTimes(
  monitoring: Monitoring,
  postgres: PostgresConnection,
  elapsed: () => number,
): Promise<Seen> {
  let upgrade: string | null = null;
  for (let failedTries = 0; failedTries < TRIES; failedTries += 1) {
    try {
      const database = await monitoring.open(postgres);
      upgrade = await database.upgrade();
      return { answered: true, failedTries, upgrade, ...(await database.check()), signs: await database.signs() };
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
      if (error.stage === "connect") break;
    }
  }
  return { answered: false, upgrade, latencyMilliseconds: elapsed() };
}
