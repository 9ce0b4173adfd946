import { setTimeout as pause } from "node:timers/promises";
import { events, now, vault, webhooks } from "../../../functions/services/composition.ts";
import { readOptions } from "../../../lib/local/read-options.ts";
import type { Webhook } from "../../../lib/model/delivery/webhook.ts";
import { newId } from "../../../lib/model/id.ts";
import { makeWebhook } from "../../support/worlds/make-webhook.ts";
import { processorTime } from "../bench/figures.ts";
import { epoch, eventFor, publishMany, startDeliveries } from "../deliveries.ts";

const HELP = `node test/programs/prove/flood.ts [--events 1000] [--dead 14] [--slow 0] [--well 1] [--wait 30]

A flood on real queues and bundles: a workspace has webhooks whose receivers never answer, take three seconds, or are well,
and all of them get the same events at once. A webhook of another workspace gets an event a second meanwhile.
Ends with 1 when the well ones, or the other workspace's, wait for longer than their bounds.`;

const options = readOptions(HELP, {
  events: { type: "string", default: "1000" },
  dead: { type: "string", default: "14" },
  slow: { type: "string", default: "0" },
  well: { type: "string", default: "1" },
  wait: { type: "string", default: "30" },
});
const EVENTS = Number(options.events);
const [DEAD, SLOW, WELL] = [Number(options.dead), Number(options.slow), Number(options.well)];
const FLOOD = `${EVENTS} events to ${DEAD} dead, ${SLOW} slow and ${WELL} well receivers`;

/** Within so many seconds the well receivers of the flood have everything, on two processors without other load. */
const ALL_WITHIN_SECONDS = 120;

/** So long after its event at the most the neighbour has its delivery. */
const NEIGHBOUR_SECONDS = Number(options.wait);

const { at, take, close } = await startDeliveries();
const broken: string[] = [];
try {
  const well = await makeWebhook(at("/well-1"));
  for (let more = 2; more <= WELL; more += 1) await addTo(well.workspaceId, at(`/well-${more}`));
  for (let dead = 0; dead < DEAD; dead += 1) await addTo(well.workspaceId, at("/never"));
  for (let slow = 0; slow < SLOW; slow += 1) await addTo(well.workspaceId, at("/slow"));
  const neighbour = await makeWebhook(at("/neighbour"));
  await flood(well, neighbour);
} finally {
  await close();
}
console.log(`${broken.length === 0 ? "kept  " : "BROKEN"} a flood of ${FLOOD}`);
for (const wrong of broken) console.log(`       ${wrong}`);
process.exitCode = broken.length === 0 ? 0 : 1;

async function flood(well: Webhook, neighbour: Webhook): Promise<void> {
  const [began, used] = [epoch(), processorTime()];
  await publishMany(well.workspaceId, EVENTS);
  const sent = new Map<string, number>();
  const delays: number[] = [];
  const arrived = new Set<string>();
  let last = began;
  const all = EVENTS * WELL;
  while (arrived.size < all || sent.size > 0) {
    const seconds = (epoch() - began) / 1000;
    if (seconds > ALL_WITHIN_SECONDS + NEIGHBOUR_SECONDS) break;
    if (arrived.size < all && seconds < ALL_WITHIN_SECONDS) {
      const event = eventFor(neighbour.workspaceId);
      sent.set(event.id, epoch());
      await events().publish([event]);
    }
    await pause(1000);
    const came = await take();
    for (const { path, eventId, at: when } of came.filter((one) => one.path.startsWith("/well"))) {
      if (!arrived.has(path + eventId)) last = when;
      arrived.add(path + eventId);
    }
    for (const { eventId, at: when } of came.filter((one) => sent.has(one.eventId))) {
      delays.push((when - (sent.get(eventId) ?? when)) / 1000);
      sent.delete(eventId);
    }
  }
  const took = (last - began) / 1000;
  const longest = Math.max(...delays, ...[...sent.values()].map((since) => (epoch() - since) / 1000));
  console.log(`       the well receivers had ${arrived.size} of ${all} after ${took.toFixed(1)} s`);
  console.log(`       the neighbour waited for at most ${longest.toFixed(1)} s`);
  console.log(`       processor time of queues and functions: ${((processorTime() - used) / 1000).toFixed(1)} s`);
  if (arrived.size < all || took > ALL_WITHIN_SECONDS) broken.push(`not all within ${ALL_WITHIN_SECONDS} s`);
  if (longest > NEIGHBOUR_SECONDS) broken.push(`the neighbour waited for more than ${NEIGHBOUR_SECONDS} s`);
}

/** One more webhook for a workspace that has one. */
async function addTo(workspaceId: string, url: string): Promise<void> {
  const made = await makeWebhook(url);
  const secrets = { current: await vault().seal(workspaceId, "whsec_AA=="), previous: [] };
  const entry = { workspaceId, actor: "system", resourceId: made.id, detail: {}, createdAt: now() };
  const webhook = { ...made, id: newId("whk"), workspaceId, secrets };
  await webhooks().create(webhook, { ...entry, id: newId("aud"), action: "webhook.created" });
}
