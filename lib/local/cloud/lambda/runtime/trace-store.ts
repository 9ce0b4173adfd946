import { AsyncLocalStorage } from "node:async_hooks";

const traces = new AsyncLocalStorage<string>();

/** Runs a call of a function; what the SDK sends meanwhile carries its trace header. */
export function withTrace<Answer>(header: string, work: () => Answer): Answer {
  return traces.run(header, work);
}

/** The runtime's `awslambda.InvokeStore`, as far as the SDK asks it. */
export const invokeStore = { getXRayTraceId: (): string | undefined => traces.getStore() };
