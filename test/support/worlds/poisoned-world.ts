import type { SQSEvent } from "aws-lambda";
import {
  counters,
  deliveries,
  doorbells,
  engineReports,
  eventRows,
  mappings,
  now,
  polls,
  workspaces,
} from "../../../functions/services/composition.ts";
import { handler as sweepMinute } from "../../../functions/workers/sweep-minute.ts";
import { ROUTES, type Route, type RouteName } from "../../../lib/http/routes.ts";
import { scraper } from "../../../lib/metrics/scrape.ts";
import { newDelivery } from "../../../lib/model/delivery/delivery.ts";
import type { Event } from "../../../lib/model/delivery/event.ts";
import { newId } from "../../../lib/model/id.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { auditEntry } from "../../../lib/model/workspace/audit.ts";
import { readFleet } from "../../../lib/settings/workspaces/fleet.ts";
import { call } from "../clients/call.ts";
import { startBridgeCloud } from "./bridge-cloud.ts";
import { makeWebhook } from "./make-webhook.ts";
import { createSyncWorld, type SyncWorld } from "./sync-world.ts";
import { createTestWorkspace, tokenFor } from "./workspace.ts";
import { mapped } from "./worlds.ts";

/** A workspace of which something is poisoned, and another one beside it. */
export type PoisonedWorld = Awaited<ReturnType<typeof startPoisonedWorld>>;

type Handler = Parameters<typeof call>[0];

/** Endpoints that read what the workspace's database or its items say. */
const READING = (Object.keys(ROUTES) as RouteName[]).filter((name) => {
  const { method, scope, deployment, postgres, reads = [] }: Route = ROUTES[name];
  const isStored = reads.some((table) => ["engine", "counters", "deliveries"].includes(table));
  return method === "GET" && scope !== null && deployment === undefined && (postgres || isStored);
});

/** A contact that is mapped, with a change in every state, and every kind of item in DynamoDB that follows. */
export async function startPoisonedWorld() {
  process.env["RATE_LIMIT_PER_MINUTE"] = "1000000000";
  const cloud = await startBridgeCloud();
  const world = await createSyncWorld(cloud);
  const contact = await mapped(world, { object: "Contact", fields: ["LastName", "Email"] });
  const neighbour = await createTestWorkspace();
  const at = now();
  const event = await rung(world, contact, at);
  const waiting = await startNeighbour(neighbour.id, at);
  const webhook = await makeWebhook("http://127.0.0.1:9/", world.workspaceId);
  const delivery = { ...newDelivery({ ...madeOf(event), webhookId: webhook.id }), nextAttemptAt: null };
  await deliveries().add([delivery]);
  await polls().add({ workspaceId: world.workspaceId, mappingId: contact.id, mark: "poll_1", askedAt: at });
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('One'), (NULL)");
  await world.cycle(contact);
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Two')");
  await sweepMinute(TICK);
  const path = {
    ...{ workspace_id: world.workspaceId, mapping_id: contact.id, webhook_id: webhook.id, delivery_id: delivery.id },
    ...{ mark: "poll_1", change_id: "1", table: "contact", key: "1" },
  };
  const token = await tokenFor(world.workspaceId);

  return {
    cloud,
    world,
    contact,
    /** One cycle of the poisoned workspace, and one sweep of all. */
    work: async () => {
      await world.pass(61); // smaller totals of a later minute are stored
      await world.cycle(contact);
      const { batchItemFailures } = (await sweepMinute(TICK)) as { readonly batchItemFailures: readonly unknown[] };
      if (batchItemFailures.length > 0) throw new Error("the minute sweep has not done all");
    },
    /** What is wrong then for others. */
    neighbours: () => wrongFor(neighbour.id, waiting),
    /** What the poisoned workspace's own readers meet: errors that do not say that it is their database. */
    own: async (): Promise<readonly string[]> => {
      const wrong = READING.map(async (name) => {
        const { handler } = (await import(`../../../functions/api/${name}.ts`)) as { handler: Handler };
        // What its owner wrote may be none of the words that the API describes.
        const asked = call(handler, name, { token, path });
        const { status, text } = await asked.catch((error: Error) => ({ status: 200, text: String(error) }));
        const isMeant = text.includes("database could not be asked") || text.includes("answers what is not described");
        return (status < 500 && !text.startsWith("Error")) || isMeant
          ? []
          : [`${name}: ${status} ${text.slice(0, 300)}`];
      });
      return (await Promise.all(wrong)).flat();
    },
    close: async () => {
      delete process.env["RATE_LIMIT_PER_MINUTE"];
      await world.close();
      await cloud.close();
    },
  };
}

const TICK = { Records: [{ messageId: "tick", body: "{}" }] } as SQSEvent;

const madeOf = ({ id: eventId, workspaceId, event, occurredAt }: Event) => ({
  ...{ id: newId("dlv"), workspaceId, eventId, event, body: "{}", createdAt: occurredAt },
});

/** An event that waits, a doorbell that was rung, a pause that has ended. */
async function rung({ services, workspaceId }: SyncWorld, { id: mappingId }: Mapping, at: Date): Promise<Event> {
  const entry = auditEntry({ workspaceId, actor: "ada@example.com", at }, "workspace.renamed", workspaceId, {});
  await doorbells().set(workspaceId, { number: 1, madeAt: at, formerUntil: null, pepper: 1 }, entry);
  await services.engine.claimWake({ workspaceId, mappingId, wakes: "pull", at: at.getTime() });
  await counters().setPaused(workspaceId, null);
  await counters().addCalls({ workspaceId, apiCalls: { REST: 3 } });
  const event = { id: newId("evt"), workspaceId, event: "record.failed", occurredAt: at, detail: {} } as const;
  await eventRows().add([event]);
  return event;
}

/** Figures, an event and a delivery that are late. */
async function startNeighbour(workspaceId: string, at: Date) {
  const sums = { workspaceId, mappingId: "map_n", sfObject: "Account", rowsSynced: 7, rowsFailed: 2 };
  await counters().set({ ...sums, apiCalls: { SOAP: 4 } }, at);
  await counters().setQueueDepth({ workspaceId, rows: 5, oldestAt: at }, at);
  const occurredAt = new Date(at.getTime() - 3_600_000);
  const event: Event = { id: newId("evt"), workspaceId, event: "record.failed", occurredAt, detail: {} };
  await eventRows().add([event]);
  const delivery = newDelivery({ ...madeOf(event), webhookId: newId("whk") });
  await deliveries().add([delivery]);
  return { event, delivery };
}

/** What a scraper, an operator, the dispatcher and the sweep see of the neighbour. */
async function wrongFor(
  workspaceId: string,
  { event, delivery }: Awaited<ReturnType<typeof startNeighbour>>,
): Promise<readonly string[]> {
  const text = await scraper(counters(), engineReports())(now());
  const lines = [
    `bridge_sync_rows_total{workspace_id="${workspaceId}",object="Account"} 7`,
    `bridge_sync_errors_total{workspace_id="${workspaceId}",object="Account"} 2`,
    `bridge_trigger_log_queue_depth{workspace_id="${workspaceId}"} 5`,
    `bridge_sf_api_calls_total{workspace_id="${workspaceId}",api="SOAP"} 4`,
  ];
  const wrong = lines.filter((line) => !text.split("\n").includes(line));
  const labels = [...text.matchAll(/api_calls_total\{workspace_id="[^"]*",api="((?:[^"\\]|\\.)*)"/g)];
  for (const [, label = ""] of labels) if (!["REST", "SOAP", "BULK", "COMPOSITE"].includes(label)) wrong.push(label);
  const samples = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  wrong.push(...samples.filter((line) => !/^\w+\{.*\} -?\d+(\.\d+)?$/.test(line)));

  const needs = { workspaces: workspaces(), counters: counters(), engine: engineReports(), mappings: mappings() };
  const row = (await readFleet(needs)).find(({ id }) => id === workspaceId);
  if (row?.waiting !== 5 || row.rows_refused !== 2) wrong.push(`the fleet shows ${JSON.stringify(row)}`);
  const found: string[] = [];
  const soon = new Date(now().getTime() + 3_600_000); // what the sweep has just sent again is late again then
  for await (const late of eventRows().late(soon)) found.push(...late.map(({ id }) => id));
  for await (const late of deliveries().late(soon)) found.push(...late.map(({ id }) => id));
  wrong.push(...[event.id, delivery.id].filter((id) => !found.includes(id)).map((id) => `${id} is not sent again`));
  return wrong;
}
