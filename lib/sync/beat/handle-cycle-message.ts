import { LATE_MILLISECONDS } from "../../model/beat.ts";
import { sizeNow } from "../../model/change/call-size.ts";
import { reasonFor } from "../../model/engine.ts";
import { Failure } from "../../model/failure.ts";
import type { Mapping } from "../../model/mapping/mapping.ts";
import type { CycleMessage } from "../../model/messages.ts";
import type { CycleStore, KeptEngine, MessageNeeds, Salesforce } from "../cycle/cycle-ports.ts";
import { sharedBy } from "../cycle/shared.ts";
import { UNBEGUN } from "../report/figures.ts";
import { reportCycle, reportUnbegun } from "../report/report-cycle.ts";
import { type CycleReport, runCycle } from "../run-cycle.ts";
import { type Beat, type Looked, UNKNOWN } from "./idle-beats.ts";

/** The invocation that answers: its name, and when it ends (epoch milliseconds). */
export interface Invocation {
  readonly owner: string;
  readonly deadline: number;
  /** What comes of a beat before its cycle; left out: nobody looks, and its cycle runs. */
  readonly look?: (beat: Beat) => Promise<Looked>;
}

/** A poll or a pull that meets a running cycle comes back after this long. */
const AGAIN_SECONDS = 3;

/** Runs the cycle that a message asks for, tells what came of it, and remembers how it ended. */
export async function handleCycleMessage(
  needs: MessageNeeds,
  message: CycleMessage,
  { look, ...invocation }: Invocation,
): Promise<void> {
  const now = new Date(needs.clock.now());
  if (isLate(message, now)) return;
  const mapping = await needs.mappings.find(message.workspace_id, message.mapping_id);
  if (!mapping || !isRunnable(mapping)) return;
  const { engine, budget } = await needs.engine.read(mapping.workspaceId, mapping.id);
  const rests = message.kind === "beat" && isResting(engine, now);
  const { pullsGoOn, probes } = engine.state.lastFailure ? reasonFor(engine.state.lastFailure.reason) : {};
  if (rests && !pullsGoOn) {
    needs.figures(UNBEGUN); // what the rest is for goes on
    return;
  }

  const saves = rests ? "none" : probes ? "probe" : "all";
  const reported = { mapping, message, engine, budget, saves, startedAt: now.getTime() } as const;
  const { kind, slot } = message;
  const callSize = sizeNow(mapping.batchSize, engine.state.callSize, now);
  const order = { mapping, kind, slot, saves, budget, callSize, ...invocation } as const;
  const stopReading = new AbortController();
  let store: CycleStore | null = null;
  let ran: {
    readonly report: CycleReport;
    readonly store: CycleStore | null;
    readonly usage: ReturnType<Salesforce["usage"]>;
  };
  try {
    try {
      const isBeat = look && kind === "beat" && slot !== null;
      const { idle, hasToPull } = isBeat ? await look({ mapping, slot, budget }) : UNKNOWN;
      if (idle) ran = { ...idle, store };
      else {
        store = await needs.connections.openStore(mapping.workspaceId);
        const { salesforce, writers } = await needs.connections.connectOrg(mapping.workspaceId, stopReading.signal);
        const shared = sharedBy(needs, mapping.workspaceId);
        const report = await runCycle({ ...needs, store, salesforce, shared }, { ...order, writers, hasToPull });
        ran = { report, store, usage: salesforce.usage() };
      }
    } catch (error) {
      // A database or an org that cannot be reached is an engine-level error too, and is told although no lease was had.
      await reportUnbegun(needs, reported, error);
      return;
    }
    if (isMissing(ran.report)) await reportUnbegun(needs, reported, missing(mapping));
    else if (isInTheWay(message, ran.report))
      await needs.queues.cycles.send([{ message, delaySeconds: AGAIN_SECONDS }]);
    else await reportCycle(needs, { ...reported, ...ran }, ran.report);
  } finally {
    stopReading.abort();
    await store?.close();
  }
}

/** A beat comes again by itself; who was asked to pull comes back when the running cycle has ended. */
function isInTheWay({ kind }: CycleMessage, report: CycleReport): boolean {
  return kind !== "beat" && !report.ran && report.why === "running";
}

/** Its tables were made for this version: the database is another one since, a copy of an earlier day, or was cleared. */
function isMissing(report: CycleReport): boolean {
  return !report.ran && report.why === "not provisioned";
}

function missing({ pgTable }: Mapping): Failure {
  const remedy = "connect the workspace to its database again, which makes them anew";
  return new Failure("CONFLICT", `the database has not what Bridge made in it for the table ${pgTable}; ${remedy}`);
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
