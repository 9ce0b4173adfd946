import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Meeting, Met } from "./meet-lies.ts";

/** A process that asks databases, lying ones and an honest one beside them; one that ends or hangs is replaced. */
export type LiedTo = ReturnType<typeof openLiedTo>;

/** Far longer than every deadline of a session; a process that was frozen does not notice its own. */
const HANG_MILLISECONDS = 60_000;

/** `door`: through which it asks, the product's sessions or the driver alone. `hang`: when it counts as frozen. */
export function openLiedTo(
  honestUrl: string,
  { door = "session", hang = HANG_MILLISECONDS }: { readonly door?: "session" | "driver"; readonly hang?: number } = {},
) {
  let child: ChildProcess | null = null;
  const end = async () => {
    const ending = child;
    child = null;
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return;
    const gone = once(ending, "exit");
    ending.kill("SIGKILL");
    await gone;
  };
  const begin = async (): Promise<ChildProcess> => {
    const begun = fork(join(import.meta.dirname, "meet-lies.ts"), [honestUrl, door], {
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    child = begun;
    await Promise.race([
      once(begun, "message"),
      once(begun, "exit").then(() => Promise.reject(new Error("the process that is lied to did not begin"))),
    ]);
    return begun;
  };
  return {
    /** What a meeting came to, or how the process has failed over it. */
    async meet(meeting: Meeting): Promise<Met | "died" | "hung"> {
      const asked = child ?? (await begin());
      const aborted = new AbortController();
      const { signal } = aborted;
      const hung = AbortSignal.timeout(hang);
      const met = await Promise.race([
        once(asked, "message", { signal }).then(([answer]) => answer as Met),
        once(asked, "exit", { signal }).then(() => "died" as const),
        once(hung, "abort", { signal }).then(() => "hung" as const),
        new Promise<never>((_, reject) => asked.send(meeting, (error) => error && asked.connected && reject(error))),
      ]);
      aborted.abort();
      if (typeof met === "string") await end();
      return met;
    },
    close: end,
  };
}
