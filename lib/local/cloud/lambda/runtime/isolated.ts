import type { Runner } from "../invocation.ts";
import type { LambdaFunction } from "../template/functions.ts";
import { type Environment, startEnvironment } from "./isolated-environment.ts";

interface IsolatedSettings {
  /** Variables of a function, beside those of its template; nothing of this process's own is handed on. */
  readonly environmentOf: (target: LambdaFunction) => Readonly<Record<string, string>>;
  /** How many environments one function may have; calls beyond wait for a free one. */
  readonly mostPerFunction: number;
}

/** The environments of one function. */
interface Fleet {
  readonly idle: Environment[];
  readonly waiting: Array<() => void>;
  size: number;
}

/**
 * Runs each function in processes of its own, as Lambda does: its own variables and memory, one event at a time, more
 * environments on demand, an end at its time-out, and a new one after a crash.
 */
export function runIsolated(settings: IsolatedSettings): Runner {
  const most = settings.mostPerFunction;
  const fleets = new Map<string, Fleet>();
  const all = new Set<Environment>();
  let isClosing = false;

  const fleetOf = ({ name }: LambdaFunction): Fleet => {
    const fleet = fleets.get(name) ?? { idle: [], waiting: [], size: 0 };
    fleets.set(name, fleet);
    return fleet;
  };
  const take = async (target: LambdaFunction, fleet: Fleet): Promise<Environment> => {
    for (;;) {
      const free = fleet.idle.pop();
      if (free?.isAlive()) return free;
      if (free) forget(fleet, free);
      else if (fleet.size < most) return add(target, fleet);
      else await new Promise<void>((resolve) => fleet.waiting.push(resolve));
    }
  };
  const add = async (target: LambdaFunction, fleet: Fleet): Promise<Environment> => {
    fleet.size++;
    try {
      const environment = await startEnvironment(target, settings.environmentOf(target));
      all.add(environment);
      return environment;
    } catch (error) {
      fleet.size--;
      throw error;
    }
  };
  const forget = (fleet: Fleet, environment: Environment) => {
    fleet.size--;
    all.delete(environment);
    void environment.end();
  };
  const release = (fleet: Fleet, environment: Environment) => {
    if (environment.isAlive()) fleet.idle.push(environment);
    else forget(fleet, environment);
    fleet.waiting.shift()?.();
  };

  return {
    mostPerFunction: most,
    async acquire(target) {
      if (isClosing) throw new Error("the host is closing");
      const fleet = fleetOf(target);
      const environment = await take(target, fleet);
      return {
        async run(invocation) {
          const { outcome, free } = environment.run(invocation);
          void free.finally(() => release(fleet, environment));
          return outcome;
        },
      };
    },
    async close() {
      isClosing = true;
      await Promise.all([...all].map((environment) => environment.end()));
    },
  };
}
