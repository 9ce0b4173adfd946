import type { SQSEvent } from "aws-lambda";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { handler as deliver } from "../../functions/workers/deliver-webhook.ts";
import { handler as dispatch } from "../../functions/workers/dispatch-events.ts";
import { handler as fanOut } from "../../functions/workers/fan-out-cycles.ts";
import { handler as load } from "../../functions/workers/load-mapping.ts";
import { handler as provision } from "../../functions/workers/provision-mapping.ts";
import { handler as runCycle } from "../../functions/workers/run-cycle.ts";
import { aCloud } from "../adapters/cloud.ts";

aCloud();
beforeAll(() => {
  for (const name of ["SCHEDULE_GROUP", "SCHEDULER_ROLE_ARN", "FAN_OUT_QUEUE_ARN"]) vi.stubEnv(name, "none");
});
afterAll(() => void vi.unstubAllEnvs());

const its = { workspace_id: "ws_gone", mapping_id: "map_gone" };
const cycle = { ...its, kind: "poll", slot: null };
const change = { ...its, import_id: null };

/** What other parts send, by the worker that reads it; the workspace is gone, so nothing is left to do. */
test.each([
  [runCycle, [cycle, { ...cycle, mark: "m" }, { ...cycle, also: ["map_2"], kind: "beat", slot: 1_767_225_600 }]],
  [runCycle, (["push", "pull"] as const).map((wakes) => ({ ...cycle, kind: "pull", wakes }))],
  [load, ["load", "backfill", "sweep", "dry_run"].map((kind) => ({ ...its, kind }))],
  [provision, [change, { ...change, anew: true }, { ...change, describe: true }]],
  [
    provision,
    [
      { ...change, mapping_id: null, upgrade: true },
      { ...change, import_id: "imp_1" },
    ],
  ],
  [deliver, ["automatic", "manual"].map((kind) => ({ delivery_id: "dlv_gone", kind, number: 1 }))],
  [dispatch, [{ workspace_id: "ws_gone", event_id: "evt_gone" }]],
  [fanOut, [{ ...its, scheduled_at: "2026-01-01T00:00:00Z" }]],
])("a worker understands each kind of message that is sent to it", async (worker, messages) => {
  const Records = messages.map((body, at) => ({ messageId: String(at), body: JSON.stringify(body) }));

  expect(await worker({ Records } as unknown as SQSEvent)).toEqual({ batchItemFailures: [] });
});
