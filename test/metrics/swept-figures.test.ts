import { CancelKeyDeletionCommand, EnableKeyCommand, ScheduleKeyDeletionCommand } from "@aws-sdk/client-kms";
import { DeleteCommand, PutCommand } from "@aws-sdk/lib-dynamodb";
import type { SQSEvent } from "aws-lambda";
import { afterEach, expect, test, vi } from "vitest";
import { database, mappings, ticks } from "../../functions/services/composition.ts";
import { handler as sweepMinute } from "../../functions/workers/sweep-minute.ts";
import { workspaceKey } from "../../lib/adapters/dynamodb/access/workspace-key.ts";
import { periodAt, phaseOf } from "../../lib/model/beat.ts";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { DEPLOYMENT } from "../../lib/model/workspace/pause.ts";
import { ask } from "../support/clients/ask.ts";
import type { BridgeCloud } from "../support/worlds/bridge-cloud.ts";
import type { SyncWorld } from "../support/worlds/sync-world.ts";
import { anIdleContactForEachTest } from "../support/worlds/worlds.ts";

/** What the minute sweep reports to the alarms, beside the cycles. */

let world: SyncWorld;
let cloud: BridgeCloud;
let contact: Mapping;
let token: string;
anIdleContactForEachTest((made) => {
  ({ world, cloud, contact, admin: token } = made);
});

// Each world is another workspace of the same deployment, and a sweep counts them all.
afterEach(deactivate);

async function deactivate(): Promise<void> {
  if (!(await mappings().find(world.workspaceId, contact.id))?.active) return;
  const path = { workspace_id: world.workspaceId, mapping_id: contact.id };
  expect(await ask("deactivate-mapping", { token, path })).toMatchObject({ status: 200 });
}

const sweep = () => sweepMinute({ Records: [{ messageId: "tick", body: "{}" }] } as SQSEvent);

/** The figures that a sweep writes for CloudWatch. */
async function figuresOfSweep(swept: () => Promise<unknown> = sweep): Promise<Readonly<Record<string, number>>> {
  vi.stubEnv("METRICS_NAMESPACE", "Bridge");
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  try {
    await swept();
    const lines = write.mock.calls.map(([line]) => String(line)).filter((line) => line.startsWith('{"_aws"'));
    const { _aws, Stage, ...figures } = Object.assign({}, ...lines.map((line) => JSON.parse(line)));
    return figures;
  } finally {
    write.mockRestore();
    vi.unstubAllEnvs();
  }
}

test("a mapping whose cycles have stopped is counted without them, whether its database answers or not", async () => {
  expect(await figuresOfSweep()).toEqual({ MappingsSilent: 0 });

  await world.pass(7 * 60);
  expect(await figuresOfSweep()).toEqual({ MappingsSilent: 1 });

  await world.cycle(contact);
  expect(await figuresOfSweep()).toEqual({ MappingsSilent: 0 });

  await world.pass(7 * 60);
  await world.sql("ALTER TABLE salesforce._bridge_state RENAME COLUMN last_run_at TO hidden");
  expect(await figuresOfSweep()).toEqual({ MappingsSilent: 1 });

  const pause = (paused: boolean) =>
    ask("switch-pause", { token, path: { workspace_id: world.workspaceId }, body: { paused } });
  await pause(true);
  await world.pass(3600);
  expect(await figuresOfSweep()).toMatchObject({ PausedSeconds: 3600 });
  await pause(false);

  await deactivate();
  expect(await figuresOfSweep()).toEqual({ MappingsSilent: 0 });
});

test("a mapping that is broken is counted as that, and its silence is no second trouble", async () => {
  await world.fault({ kind: "refusedGrant", path: "oauth2/token", times: 0 });
  await world.control("DELETE", "/sessions");
  await world.pass(90);
  await world.cycle(contact);
  await world.pass(7 * 60);
  expect(await figuresOfSweep()).toEqual({ MappingsSilent: 1, MappingsBroken: 1 });
  const period = periodAt(new Date(cloud.clock.now()), phaseOf(world.workspaceId));
  await ticks().note(world.workspaceId, [contact.id], period); // its ticks come

  expect(await figuresOfSweep()).toEqual({ MappingsSilent: 0, MappingsBroken: 1 });
});

test("a key that will be deleted is reported each minute, with a line that says how to save it", async () => {
  const { kms } = cloud.clients;
  const KeyId = String(process.env["KEY_ID"]);
  const log = vi.spyOn(console, "error").mockReturnValue();
  await kms.send(new ScheduleKeyDeletionCommand({ KeyId, PendingWindowInDays: 7 }));
  try {
    expect(await figuresOfSweep()).toEqual({ MappingsSilent: 0, KeyUnusable: 1 });
    expect(log.mock.calls.map(([line]) => JSON.parse(String(line)))).toContainEqual({
      level: "error",
      event: "key",
      state: "PendingDeletion",
      message: expect.stringContaining("cancel its deletion first where that is pending"),
    });
  } finally {
    log.mockRestore();
    await kms.send(new CancelKeyDeletionCommand({ KeyId }));
    await kms.send(new EnableKeyCommand({ KeyId }));
  }
  expect(await figuresOfSweep()).toEqual({ MappingsSilent: 0 });
});

test("a sweep of which a part cannot be done is an error of its function, and reports what the others saw", async () => {
  await sweep();
  const TableName = database().table("workspaces");
  const Key = workspaceKey(DEPLOYMENT);
  await database().client.send(new PutCommand({ TableName, Item: { ...Key, created_at: "unreadable" } }));

  const broken = () => expect(sweep()).rejects.toThrow("a part of the sweep could not be done");
  expect(await figuresOfSweep(broken)).toMatchObject({ MappingsSilent: 0 });

  await database().client.send(new DeleteCommand({ TableName, Key }));
});
