import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { test } from "vitest";
import { startBreakingRelay } from "../support/doubles/breaking-relay.ts";
import { mappingOf } from "../support/worlds/shapes.ts";
import { expectWholeHowever, SHAPE } from "./heroku-connect-broken-off.ts";

test("killed between any two of its statements, either Heroku Connect's triggers capture or ours, and what waits is imported once", async () => {
  let spare = startWorker();
  await expectWholeHowever(async (nth, { url }) => {
    const worker = spare;
    spare = startWorker();
    const relay = await startBreakingRelay(url);
    relay.breakBefore(nth, () => worker.kill("SIGKILL"));
    worker.send({ url: relay.url, mapping: mappingOf(SHAPE), shape: SHAPE });
    const [code, signal] = await once(worker, "exit");
    await relay.close();
    if (!relay.isBroken && code !== 0) throw new Error(`the worker ended on its own with ${code ?? signal}`);
    return relay.isBroken;
  });
  spare.kill("SIGKILL");
});

function startWorker(): ChildProcess {
  return fork(join(import.meta.dirname, "../support/processes/adopt-worker.ts"));
}
