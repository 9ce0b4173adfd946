import { Heap } from "./heap.ts";

/** Takes a booked timer back; harmless once it has fired. */
export type Cancel = () => void;

/** Time as every part of one machine sees it, so that a test can move it by hand. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Runs something at an epoch millisecond, or at once when that has passed. What it throws is a fault of the process. */
  at(epochMilliseconds: number, run: () => unknown): Cancel;
  /**
   * Hands the work back, and lets a clock moved by hand wait for it before time continues. For work that a timer led to
   * but did not await. Work that itself waits for this clock would never end: leave it out.
   */
  during<T>(work: Promise<T>): Promise<T>;
}

/** The machine's own time. */
export const systemClock: Clock = {
  now: () => Date.now(),
  at(epochMilliseconds, run) {
    let timer: NodeJS.Timeout;
    const arm = () => {
      const left = epochMilliseconds - Date.now();
      timer = left > 0 ? setTimeout(arm, Math.min(left, RECHECK_MILLISECONDS)) : setTimeout(run, 0);
    };
    arm();
    return () => clearTimeout(timer);
  },
  during: (work) => work,
};

/** Timers count running time only: looking again notices that the machine slept or that its clock was set. */
const RECHECK_MILLISECONDS = 10_000;

/** A clock that does not move until it is moved. */
export interface TestClock extends Clock {
  /** Moves time on, firing timers in their order and awaiting what each starts. Rethrows what a timer throws. */
  advance(by: Duration): Promise<void>;
  /** Awaits the work that is under way without moving time. */
  settle(): Promise<void>;
}

/** A length of time as the sum of its parts. */
interface Duration {
  readonly days?: number;
  readonly hours?: number;
  readonly minutes?: number;
  readonly seconds?: number;
  readonly milliseconds?: number;
}

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly run: () => unknown;
  cancelled: boolean;
}

/** A clock for tests that shows `start` until it is moved. */
export function createTestClock(start: Date): TestClock {
  const timers = new Heap<Timer>((a, b) => a.at - b.at || a.order - b.order);
  const underWay = new Set<Promise<unknown>>();
  let now = start.getTime();
  let booked = 0;
  let moving = false;

  const during = <T>(work: Promise<T>): Promise<T> => {
    const ended = work.then(done, done);
    function done(): void {
      underWay.delete(ended);
    }
    underWay.add(ended);
    return work;
  };

  const settle = async () => {
    do {
      await Promise.all(underWay);
      await breath();
    } while (underWay.size > 0);
  };

  const fireUntil = async (target: number) => {
    await settle();
    for (let next = timers.peek(); next && next.at <= target; next = timers.peek()) {
      timers.pop();
      if (next.cancelled) continue;
      now = Math.max(now, next.at);
      await next.run();
      await settle();
    }
  };

  return {
    now: () => now,
    at(epochMilliseconds, run) {
      const timer = { at: epochMilliseconds, order: booked++, run, cancelled: false };
      if (timer.at > now) timers.push(timer);
      else void during(breath().then(() => (timer.cancelled ? undefined : run())));
      return () => {
        timer.cancelled = true;
      };
    },
    during,
    settle,
    async advance(by) {
      if (moving) throw new Error("this clock is already being moved; await the first advance");
      moving = true;
      try {
        const target = now + inMilliseconds(by);
        await fireUntil(target);
        now = target;
      } finally {
        moving = false;
      }
    },
  };
}

/** Lets every promise that can continue do so, input and output that is ready included. */
function breath(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function inMilliseconds({ days = 0, hours = 0, minutes = 0, seconds = 0, milliseconds = 0 }: Duration): number {
  return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000 + milliseconds;
}
