import type { Connections } from "../../../lib/sync/ports/cycle-ports.ts";
import type { Waits } from "./waits.ts";

/** Receives each call of a cycle to its database or its org before it is sent; what it throws is thrown instead. */
export type Interference = (call: string, ...args: readonly unknown[]) => void | Promise<void>;

/** Connections whose every call passes by the interference of the moment. */
export function interferedWith(
  connections: Connections,
  current: () => Interference | null,
  waits: Waits,
): Connections {
  const watched = <Thing extends object>(name: string, thing: Thing): Thing =>
    new Proxy(thing, {
      get(target, property) {
        const value: unknown = Reflect.get(target, property);
        const call = `${name}.${String(property)}`;
        if (typeof value !== "function" || UNWATCHED.has(call)) return value;
        return async (...args: unknown[]) => {
          await current()?.(call, ...args);
          return waits.call(call, async () => Reflect.apply(value, target, args));
        };
      },
    });
  return {
    openStore: async (workspaceId) => watched("store", await connections.openStore(workspaceId)),
    connectOrg: async (workspaceId, signal) => {
      const org = await connections.connectOrg(workspaceId, signal);
      return { ...org, salesforce: watched("org", org.salesforce) };
    },
  };
}

/** Calls that only look at what is in memory, or that a killed process's operating system makes for it. */
const UNWATCHED = new Set(["org.calls", "org.usage", "store.close"]);

/** Kills a cycle before its `nth` call: from there on nothing that it does has any effect. Says whether it came so far. */
export function killBefore(nth: number): { readonly interference: Interference; readonly wasReached: () => boolean } {
  let calls = 0;
  return {
    interference: () => {
      calls += 1;
      if (calls >= nth) throw new Error("killed");
    },
    wasReached: () => calls >= nth,
  };
}
