import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import type { SQSEvent } from "aws-lambda";
import { expect, test, vi } from "vitest";
import { handler as deactivateMapping } from "../../functions/api/deactivate-mapping.ts";
import { counters, now, pepper, tokens } from "../../functions/services/composition.ts";
import { handler as sweepMinute } from "../../functions/workers/sweep-minute.ts";
import { createToken } from "../../lib/access/create-token.ts";
import { metricsText } from "../../lib/metrics/scrape.ts";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import { call } from "../support/clients/call.ts";
import type { SyncWorld } from "../support/worlds/sync-world.ts";
import { createTestWorkspace } from "../support/worlds/workspace.ts";
import { aWorldForEachTest, mapped } from "../support/worlds/worlds.ts";

let world: SyncWorld;
let contact: Mapping;
aWorldForEachTest(async (made) => {
  world = made.world;
  for (const queue of ["provisioning", "loads"] as const) await made.cloud.take(queue); // the sweeps' of the test before
  contact = await mapped(world, { object: "Contact", fields: ["LastName"] });
});

const sweep = () => sweepMinute({ Records: [{ messageId: "tick", body: "{}" }] } as SQSEvent);
const insert = (rows: number) =>
  world.sql("INSERT INTO salesforce.contact (lastname) SELECT 'Contact' FROM generate_series(1, $1)", [rows]);

/** What a scrape tells of this workspace. */
async function told(): Promise<number | undefined> {
  const text = metricsText(await counters().readAll());
  const [, depth] = new RegExp(`queue_depth\\{workspace_id="${world.workspaceId}"\\} (\\d+)`).exec(text) ?? [];
  return depth === undefined ? undefined : Number(depth);
}

async function deactivate(): Promise<void> {
  const by = { name: "test", owner: "ada@example.com", actor: "ada@example.com", scopes: ["admin"] as const };
  const needs = { tokens: tokens(), pepper: pepper() };
  const { token } = await createToken(needs, {
    ...by,
    workspaceId: world.workspaceId,
    validUntil: null,
    at: now(),
  });
  const path = { workspace_id: world.workspaceId, mapping_id: contact.id };
  expect(await call(deactivateMapping, "deactivate-mapping", { token, path })).toMatchObject({ status: 200 });
}

test("rows in NEW are told from minute to minute while no mapping of the workspace is active", async () => {
  await world.cycle(contact);
  await deactivate();
  await insert(50);
  await world.pass(90);

  expect(await sweep()).toEqual({ batchItemFailures: [] });
  expect(await told()).toBe(50);

  await world.sql("DELETE FROM salesforce._trigger_log WHERE id IN (SELECT id FROM salesforce._trigger_log LIMIT 20)");
  await world.sql(
    "UPDATE salesforce._trigger_log SET state = 'PENDING' WHERE id IN (SELECT id FROM salesforce._trigger_log LIMIT 5)",
  );
  await world.pass(90);
  await sweep();
  expect(await told()).toBe(25);
});

test("and while its cycles cannot begin", async () => {
  await world.cycle(contact);
  await world.fault({ kind: "refusedGrant", path: "oauth2/token", times: 0 });
  await world.control("DELETE", "/sessions");
  await insert(3);
  await world.pass(90);

  await sweep();

  expect(await told()).toBe(3);
});

test("what a cycle has just counted is not counted again", async () => {
  await world.cycle(contact);
  await insert(3);

  await sweep();

  expect(await told()).toBe(0);
});

test("a database that hangs holds up neither the count of another nor the sweep", async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => void sockets.push(socket.on("error", () => undefined)));
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as { port: number };
  for (let i = 0; i < 3; i++) {
    await createTestWorkspace({ postgres: { url: `postgres://a:b@127.0.0.1:${port}/c`, schema: "salesforce" } });
  }
  await insert(2);
  await world.pass(90);

  const swept = sweep();
  await vi.waitFor(async () => {
    expect(sockets).toHaveLength(3);
    expect(await told()).toBe(2);
  }, 300_000);

  for (const socket of sockets) socket.destroy();
  expect(await swept).toEqual({ batchItemFailures: [] });
  silent.close();
});
