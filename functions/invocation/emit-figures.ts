import type { Troubles } from "../../lib/metrics/count-troubles.ts";
import type { Figures } from "../../lib/sync/ports/cycle-ports.ts";
import { now } from "../services/composition.ts";

/** Below these a figure is left out: no alarm needs it, and an idle mapping costs no line. */
const WAITING_SECONDS = 60;
const BUDGET_SHARE = 0.6;
const PAUSED_SECONDS = 3600;

/** Collects the figures of an invocation's cycles, and writes them for CloudWatch in one line. */
export interface Gathered {
  add(figures: Figures): void;
  /** Writes the line if anything is worth it, of so many cycles that were asked for; afterwards nothing is gathered. */
  emit(cycles: number): void;
}

/**
 * Figures in CloudWatch's embedded metric format: metrics of the stage, written as a log line. The line goes to
 * standard output as it is, because the runtime would wrap what the console is given into a line of its own.
 * `METRICS_NAMESPACE` is set on AWS alone; without it nothing is written.
 */
export function gatherFigures(write = toOutput): Gathered {
  let gathered: Figures[] = [];
  return {
    add: (figures) => void gathered.push(figures),
    emit: (cycles) => {
      const metrics = metricsOf(gathered, cycles);
      gathered = [];
      reportMetrics(metrics, write);
    },
  };
}

/** Reports how long the longest pause has lasted; null: nothing is paused. */
export function reportPaused(since: Date | null, write = toOutput): void {
  const seconds = since === null ? 0 : Math.round((now().getTime() - since.getTime()) / 1000);
  reportMetrics(seconds >= PAUSED_SECONDS ? { PausedSeconds: seconds } : {}, write);
}

/**
 * What the minute sweep counts. `MappingsSilent` is reported each minute, with zeros as well, because its absence rings;
 * the others only while they are to ring, because CloudWatch takes money for each hour of a metric.
 */
export function reportSwept({ silent, broken }: Troubles, isKeyUsable: boolean, write = toOutput): void {
  reportMetrics(
    {
      MappingsSilent: silent,
      ...(broken > 0 && { MappingsBroken: broken }),
      ...(!isKeyUsable && { KeyUnusable: 1 }),
    },
    write,
  );
}

const toOutput = (line: string): void => void process.stdout.write(line);

function reportMetrics(metrics: Partial<Record<Metric, number>>, write: (line: string) => void): void {
  const Namespace = process.env["METRICS_NAMESPACE"];
  if (!Namespace || Object.keys(metrics).length === 0) return;
  const Metrics = Object.keys(metrics).map((Name) => ({ Name, Unit: UNITS[Name as Metric] }));
  const _aws = { Timestamp: now().getTime(), CloudWatchMetrics: [{ Namespace, Dimensions: [["Stage"]], Metrics }] };
  write(`${JSON.stringify({ _aws, Stage: process.env["STAGE"], ...metrics })}\n`);
}

const UNITS = {
  RowsAccepted: "Count",
  RowsFailed: "Count",
  OldestWaitingSeconds: "Seconds",
  OrgBudgetUsed: "Percent",
  CyclesFailed: "Percent",
  DeletesHeld: "Count",
  PausedSeconds: "Seconds",
  MappingsSilent: "Count",
  MappingsBroken: "Count",
  KeyUnusable: "Count",
} as const;

type Metric = keyof typeof UNITS;

function metricsOf(all: readonly Figures[], cycles: number): Partial<Record<Metric, number>> {
  const sum = (count: (one: Figures) => number): number => all.reduce((total, one) => total + count(one), 0);
  const most = (size: (one: Figures) => number | null): number => Math.max(0, ...all.map((one) => size(one) ?? 0));
  const rows = { RowsAccepted: sum(({ accepted }) => accepted), RowsFailed: sum(({ refused }) => refused) };
  const waiting = Math.round(most(({ oldestWaitingSeconds }) => oldestWaitingSeconds));
  // One that failed, and whose report then failed as well, was reported twice.
  const failed = Math.min(1, sum(({ failed }) => Number(failed)) / cycles);
  const budget = most(({ budgetShare }) => budgetShare);
  const held = most(({ heldDeletes }) => heldDeletes);
  return {
    ...(rows.RowsAccepted + rows.RowsFailed > 0 && rows),
    ...(waiting >= WAITING_SECONDS && { OldestWaitingSeconds: waiting }),
    ...(budget >= BUDGET_SHARE && { OrgBudgetUsed: percent(budget) }),
    ...(held > 0 && { DeletesHeld: held }),
    ...(failed > 0 && { CyclesFailed: percent(failed) }),
  };
}

const percent = (share: number): number => Math.round(share * 1000) / 10;
