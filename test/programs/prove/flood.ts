import { setTimeout as pause } from "node:timers/promises";
import { events } from "../../../functions/services/composition.ts";
import { makeWebhook } from "../../support/worlds/make-webhook.ts";
import { epoch, eventFor, publishMany, startDeliveries } from "../deliveries.ts";

/**
 * A flood on real queues and bundles (`flood.ts DEAD SLOW WELL`): a workspace has webhooks whose receivers never answer,
 * take three seconds, or are well, and all of them get the same events at once. A webhook of another workspace gets an
 * event a second meanwhile. Ends with 1 when the well ones, or the other workspace's, wait for longer than their bounds.
 */
const [DEAD = 0, SLOW = 0, WELL = 0] = process.argv.slice(2).map(Number);
const EVENTS = 1_000;

/** Within so many seconds the well receivers of the flood have everything, on two processors without other load. */
const ALL_WITHIN_SECONDS = 120;

/** So long after its event at the most the neighbour has its delivery. */
const NEIGHBOUR_SECONDS = 30;

const { at, take, close } = await startDeliveries();
const broken: string[] = [];
try {
  const { workspaceId } = await makeWebhook(at("/well-1"));
  const more = Array.from({ length: WELL - 1 }, (_, other) => `/well-${other + 2}`);
  const bad = [...Array<string>(DEAD).fill("/never"), ...Array<string>(SLOW).fill("/slow")];
  for (const path of [...more, ...bad]) await makeWebhook(at(path), workspaceId);
  await flood(workspaceId, (await makeWebhook(at("/neighbour"))).workspaceId);
} finally {
  await close();
}
console.log(
  `${broken.length === 0 ? "kept  " : "BROKEN"} a flood of ${EVENTS} events to ${DEAD} dead, ${SLOW} slow and ${WELL} well receivers`,
);
for (const wrong of broken) console.log(`       ${wrong}`);
process.exitCode = broken.length === 0 ? 0 : 1;

async function flood(workspaceId: string, neighbour: string): Promise<void> {
  const began = epoch();
  await publishMany(workspaceId, EVENTS);
  const sent = new Map<string, number>();
  const delays: number[] = [];
  const arrived = new Set<string>();
  let last = began;
  const all = EVENTS * WELL;
  while (arrived.size < all || sent.size > 0) {
    const seconds = (epoch() - began) / 1000;
    if (seconds > ALL_WITHIN_SECONDS + NEIGHBOUR_SECONDS) break;
    if (arrived.size < all && seconds < ALL_WITHIN_SECONDS) {
      const event = eventFor(neighbour);
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
  if (arrived.size < all || took > ALL_WITHIN_SECONDS) broken.push(`not all within ${ALL_WITHIN_SECONDS} s`);
  if (longest > NEIGHBOUR_SECONDS) broken.push(`the neighbour waited for more than ${NEIGHBOUR_SECONDS} s`);
}
