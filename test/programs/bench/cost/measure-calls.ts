import pLimit from "p-limit";
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
  const oneAtATime = pLimit(1);
  let isMeasuring = false;
  let measured: Record<string, Calls> = {};
  const measure = async (target: LambdaFunction, event: unknown, run: () => Promise<unknown>) => {
    const [began, before] = [performance.now(), process.cpuUsage()];
    try {
      return await run();
    } finally {
      const used = process.cpuUsage(before);
      const none = { calls: 0, records: 0, milliseconds: 0, processorMilliseconds: 0 };
      const sum = measured[target.name] ?? { memoryMegabytes: target.memoryMegabytes, ...none };
      measured[target.name] = sum;
      sum.calls += 1;
      sum.records += recordsOf(event);
      sum.milliseconds += performance.now() - began;
      sum.processorMilliseconds += (used.user + used.system) / 1000;
    }
  };
  return {
    around: (runner) => ({
      ...runner,
      async acquire(target) {
        const place = await runner.acquire(target);
        if (!isMeasuring) return place;
        return {
          run: (invocation) =>
            oneAtATime(() => measure(target, invocation.event, () => place.run(invocation))) as never,
        };
      },
    }),
    begin: () => {
      isMeasuring = true;
    },
    take: () => {
      const taken = measured;
      measured = {};
      return taken;
    },
  };
}

function recordsOf(event: unknown): number {
  const { Records } = event as { readonly Records?: readonly unknown[] };
  return Records?.length ?? 1;
}
