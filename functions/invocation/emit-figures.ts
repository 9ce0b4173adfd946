import type { Figures } from "../../lib/sync/cycle/cycle-ports.ts";
import { now } from "../services/composition.ts";

/** Below these a figure need not be told: nothing rings, and an idle mapping costs no line. */
const WAITING_SECONDS = 60;
const BUDGET_SHARE = 0.6;

/** Gathers the figures of an invocation's cycles, and tells them to CloudWatch in one line. */
export interface Gathered {
  add(figures: Figures): void;
  /** Writes the line if anything is worth it, of so many cycles that were asked for; afterwards nothing is gathered. */
  tell(cycles: number): void;
}

/**
 * Figures in CloudWatch's embedded metric format: metrics of the stage, made of a log line. The line goes to standard
 * output as it is, because the runtime would wrap what the console is given into a line of its own. `METRICS_NAMESPACE`
 * is set on AWS alone; without it nothing is written.
 */
export function gatherFigures(write: (line: string) => void = (line) => void process.stdout.write(line)): Gathered {
  let gathered: Figures[] = [];
  return {
    add: (figures) => void gathered.push(figures),
    tell: (cycles) => {
      const Namespace = process.env["METRICS_NAMESPACE"];
      const metrics = metricsOf(gathered, cycles);
      gathered = [];
      if (!Namespace || Object.keys(metrics).length === 0) return;
      const Metrics = Object.keys(metrics).map((Name) => ({ Name, Unit: UNITS[Name as Metric] }));
      const _aws = { Timestamp: now().getTime(), CloudWatchMetrics: [{ Namespace, Dimensions: [["Stage"]], Metrics }] };
      write(`${JSON.stringify({ _aws, Stage: process.env["STAGE"], ...metrics })}\n`);
    },
  };
}

const UNITS = {
  RowsAccepted: "Count",
  RowsFailed: "Count",
  OldestWaitingSeconds: "Seconds",
  OrgBudgetUsed: "Percent",
  CyclesFailed: "Percent",
  DeletesHeld: "Count",
} as const;

type Metric = keyof typeof UNITS;

function metricsOf(all: readonly Figures[], cycles: number): Partial<Record<Metric, number>> {
  const sum = (count: (one: Figures) => number): number => all.reduce((total, one) => total + count(one), 0);
  const most = (size: (one: Figures) => number | null): number => Math.max(0, ...all.map((one) => size(one) ?? 0));
  const rows = { RowsAccepted: sum(({ accepted }) => accepted), RowsFailed: sum(({ refused }) => refused) };
  const waiting = Math.round(most(({ oldestWaitingSeconds }) => oldestWaitingSeconds));
  // One that failed, and whose report then failed as well, was told twice.
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
