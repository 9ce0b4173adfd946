import { setTimeout as after } from "node:timers";
import type { Shared } from "../../../../lib/sync/cycle/cycle.ts";
import type { Clock } from "../../../../lib/sync/ports/cycle-ports.ts";

/** A mapping that shares nothing with any other. */
export const ALONE: Shared = {
  claimProbe: async () => true,
  isPaused: async () => false,
  activeMappings: async () => [],
  sendSweep: async () => undefined,
  sendLoad: async () => undefined,
  wakeAt: async () => undefined,
  sendPulls: async () => undefined,
};

/** The machine's time. */
export const CLOCK: Clock = {
  now: () => Date.now(),
  at: (epochMilliseconds, run) => {
    const timer = after(run, Math.max(0, epochMilliseconds - Date.now()));
    return () => clearTimeout(timer);
  },
};

/** A request of REST to an org, its body as JSON, or as CSV when it is a text. */
export async function ask(
  { instanceUrl, accessToken }: { readonly instanceUrl: string; readonly accessToken: string | null },
  method: string,
  path: string,
  body?: object | string,
): Promise<Response> {
  const isText = typeof body === "string";
  const response = await fetch(`${instanceUrl}/services/data/v66.0${path}`, {
    method,
    headers: { authorization: `Bearer ${accessToken}`, "content-type": isText ? "text/csv" : "application/json" },
    ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response;
}

/** The same, its answer read as JSON. */
export async function askJson<Answer>(...asked: Parameters<typeof ask>): Promise<Answer> {
  return (await (await ask(...asked)).json()) as Answer;
}
