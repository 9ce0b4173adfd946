import type { Runner } from "../../../../lib/local/cloud/lambda/invocation.ts";
import type { LambdaFunction } from "../../../../lib/local/cloud/lambda/template/functions.ts";

/** What the calls of one function came to. */
export interface Calls {
  readonly memoryMegabytes: number;
  calls: number;
  /** Messages, or requests. */
  records: number;
  /** From begin to end, on the machine's clock. */
  milliseconds: number;
  /** Of the processor. */
  processorMilliseconds: number;
}

interface CallMeasure {
  readonly around: (runner: Runner) => Runner;
  /** From now on calls are measured. */
  begin(): void;
  /** What was measured since the last time. */
  take(): Readonly<Record<string, Calls>>;
}

/** Lets one call run at a time, so that what it waits for and what it computes are its own, and measures each. */
export function measureCalls(): CallMeasure {
  let isMeasuring = false;
  let measured = new Map<string, Calls>();
  let turn: Promise<unknown> = Promise.resolve();
  const note = (target: LambdaFunction, records: number, milliseconds: number, used: NodeJS.CpuUsage) => {
    const none = { calls: 0, records: 0, milliseconds: 0, processorMilliseconds: 0 };
    const sum = measured.get(target.name) ?? { memoryMegabytes: target.memoryMegabytes, ...none };
    sum.calls += 1;
    sum.records += records;
    sum.milliseconds += milliseconds;
    sum.processorMilliseconds += (used.user + used.system) / 1000;
    measured.set(target.name, sum);
  };
  return {
    around: (runner) => ({
      ...runner,
      async acquire(target) {
        const place = await runner.acquire(target);
        if (!isMeasuring) return place;
        const mine = turn;
        let done: () => void = () => undefined;
        turn = new Promise<void>((resolve) => {
          done = resolve;
        });
        await mine;
        return {
          async run(invocation) {
            const [began, before] = [performance.now(), process.cpuUsage()];
            try {
              return await place.run(invocation);
            } finally {
              note(target, recordsOf(invocation.event), performance.now() - began, process.cpuUsage(before));
              done();
            }
          },
        };
      },
    }),
    begin() {
      isMeasuring = true;
    },
    take() {
      const taken = Object.fromEntries(measured);
      measured = new Map();
      return taken;
    },
  };
}

function recordsOf(event: unknown): number {
  const { Records } = event as { readonly Records?: readonly unknown[] };
  return Records?.length ?? 1;
}
