import { setTimeout as pause } from "node:timers/promises";
import { events } from "../../../functions/services/composition.ts";
import { readOptions } from "../../../lib/local/read-options.ts";
import type { Webhook } from "../../../lib/model/delivery/webhook.ts";
import { newId } from "../../../lib/model/id.ts";
import { countWrites } from "../../support/checks/count-writes.ts";
import { makeWebhook } from "../../support/worlds/make-webhook.ts";
import { epoch, eventFor, publishMany, startDeliveries } from "../deliveries.ts";
import { type Figure, percentile, processorTime, report, sum } from "./figures.ts";
import { FLOOR_CALLS, type Floor, startFloor } from "./webhook-floor.ts";

const HELP = `npm run bench:webhooks [-- --json]

Deliveries through the real queues and the deployed bundles to a receiver in its own process. Rates and times depend on
the machine, so they are held against a floor in the same run: a loop over the SDK that receives, signs, posts and makes
the same DynamoDB writes. Times are measured at a third of the floor's rate, for queues, functions and publisher share
one process here: nearer to the rate they would measure the wait for it. Ends with 1 when a bar is missed.

  --json  the figures as JSON`;

const options = readOptions(HELP, { json: { type: "boolean", default: false } });

/** Pads an event's `data` so that the body is 1 KB. */
const DETAIL = { padding: "x".repeat(800) };
const WARM_UP = 1000;
const LATENCY_SECONDS = 20;
const FLOOR_EVENTS = 2000;
const BLACK_HOLE_SECONDS = 40;
const RECEIVERS = 50;

const figures: Figure[] = [];
const { at, count: countArrivals, take, close } = await startDeliveries((line) => console.error(JSON.stringify(line)));

try {
  const one = await makeWebhook(at("/one"));
  await run(WARM_UP, (count) => publishMany(one.workspaceId, count, DETAIL));
  figures.push(...(await writesPerDelivery(one)));
  figures.push(...(await onFloor(10, (floor) => besideFloor(one, floor))));
  // A floor that is behind takes several events in a call, which cost a third less: under the load that follows each has one.
  const { milliseconds } = await onFloor(1, (floor) => run(FLOOR_EVENTS, (count) => publishOneByOne(floor, count)));
  const rate = Math.max(10, Math.floor((1000 * FLOOR_EVENTS) / milliseconds / 3));
  figures.push(...(await onFloor(10, (floor) => latency(one, rate, floor))));
  figures.push(...(await blackHole(rate)));
} finally {
  await close();
}

report(figures, options);

/** With a floor whose calls take up to so many events. */
async function onFloor<Result>(eventsInCall: number, work: (floor: Floor) => Promise<Result>): Promise<Result> {
  const floor = await startFloor(at("/floor"), eventsInCall);
  try {
    return await work(floor);
  } finally {
    await floor.close();
  }
}

/** The same deliveries by us and by the floor, one after the other and twice, so that neither has the warmer machine. */
async function besideFloor(webhook: Webhook, floor: Floor): Promise<Figure[]> {
  const toFloor = () => run(FLOOR_EVENTS, (count) => floor.publish(Array.from({ length: count }, floorEvent)));
  await toFloor();
  const [own, least]: [Took[], Took[]] = [[], []];
  for (let round = 0; round < 2; round += 1) {
    own.push(await run(FLOOR_EVENTS, (count) => publishMany(webhook.workspaceId, count, DETAIL)));
    least.push(await toFloor());
  }
  const total = (took: readonly Took[], of: keyof Took) => sum(took.map((one) => one[of]));
  const rate = (1000 * 2 * FLOOR_EVENTS) / total(least, "milliseconds");
  const times = total(own, "processor") / total(least, "processor");
  const share = total(least, "milliseconds") / total(own, "milliseconds");
  return [
    { name: "floor: deliveries a second", value: rate, unit: "/s" },
    { name: "ours over the floor's", value: share, unit: "x", atLeast: 0.7 },
    { name: "ours over the floor's processor time", value: times, unit: "x", atMost: 1.5 },
  ];
}

/** As many at a time as a floor has calls. */
async function publishOneByOne(floor: Floor, count: number): Promise<void> {
  let left = count;
  const publishing = Array.from({ length: FLOOR_CALLS }, async () => {
    while (left-- > 0) await floor.publish([floorEvent()]);
  });
  await Promise.all(publishing);
}

/** How long it took until all had come, and processor time of this process, in milliseconds. */
interface Took {
  readonly milliseconds: number;
  readonly processor: number;
}

async function run(count: number, publish: (count: number) => Promise<void>): Promise<Took> {
  const had = await countArrivals();
  const [began, used] = [performance.now(), processorTime()];
  await publish(count);
  while ((await countArrivals()) < had + count) await pause(20);
  const processor = processorTime() - used;
  await take();
  return { milliseconds: performance.now() - began, processor };
}

function floorEvent() {
  const event = { id: newId("evt"), data: DETAIL };
  return { id: event.id, body: JSON.stringify({ ...event, event: "record.failed", workspace_id: "ws_floor" }) };
}

/** From event to receipt at this rate, by us and by the floor. */
async function latency(webhook: Webhook, rate: number, floor: Floor): Promise<Figure[]> {
  // Near a whole processor, times measure the wait for the processor.
  let began = processorTime();
  const share = () => (processorTime() - began) / (LATENCY_SECONDS * 10);
  const own = await publishAtRate(() => webhook, rate, LATENCY_SECONDS);
  const ownShare = share();
  began = processorTime();
  const theirs = await publishAtRate(() => null, rate, LATENCY_SECONDS, floor);
  return [
    { name: "a third of the floor's rate, one event at a time", value: rate, unit: "/s" },
    { name: "floor: share of a processor at that rate", value: share(), unit: "%" },
    { name: "ours: share of a processor at that rate", value: ownShare, unit: "%" },
    { name: "ours at that rate, p50", value: percentile(own, 50), unit: "ms" },
    { name: "ours at that rate, p95", value: percentile(own, 95), unit: "ms" },
    { name: "ours over the floor's p95", value: percentile(own, 95) / percentile(theirs, 95), unit: "x", atMost: 4 },
  ];
}

/** The same load over 50 receivers in 50 workspaces, first all well, then with one that never answers. */
async function blackHole(rate: number): Promise<Figure[]> {
  const well = await Promise.all(Array.from({ length: RECEIVERS }, (_, number) => makeWebhook(at(`/well-${number}`))));
  const never = await makeWebhook(at("/never"));
  const pickFrom = (all: readonly Webhook[]) => (count: number) => all[count % all.length] ?? never;
  const before = await publishAtRate(pickFrom(well), rate, BLACK_HOLE_SECONDS);
  const during = await publishAtRate(pickFrom([never, ...well.slice(1)]), rate, BLACK_HOLE_SECONDS);
  const [p95Before, p95During] = [percentile(before, 95), percentile(during, 95)];
  return [
    { name: "50 well receivers, p95", value: p95Before, unit: "ms" },
    { name: "49 well ones beside a black hole, p95", value: p95During, unit: "ms" },
    { name: "rise by the black hole", value: (p95During / p95Before - 1) * 100, unit: "%", atMost: 20 },
  ];
}

/** What DynamoDB is asked to write for an event and its delivery, item by item. */
async function writesPerDelivery({ workspaceId }: Webhook): Promise<Figure[]> {
  const count = 200;
  const writes = await countWrites(() => run(count, () => publishMany(workspaceId, count, DETAIL)));
  const ofEvents = writes["bridge-dev-events"] ?? 0;
  return [
    {
      name: "DynamoDB writes of a delivery",
      value: (sum(Object.values(writes)) - ofEvents) / count,
      unit: "",
      atMost: 3,
    },
    { name: "DynamoDB writes of an event, for all its webhooks", value: ofEvents / count, unit: "", atMost: 2 },
  ];
}

/** Publishes one event at a time at this rate, to the floor where no webhook is given; gives the milliseconds from event to receipt of those that are answered. */
async function publishAtRate(
  webhookOf: (count: number) => Webhook | null,
  ratePerSecond: number,
  seconds: number,
  floor?: Floor,
): Promise<readonly number[]> {
  await take();
  const published = new Map<string, { readonly at: number; readonly url: string }>();
  const publishing: Promise<void>[] = [];
  const began = performance.now();
  for (let count = 0; count < ratePerSecond * seconds; count += 1) {
    const wait = began + (count * 1000) / ratePerSecond - performance.now();
    if (wait > 0) await pause(wait);
    const webhook = webhookOf(count);
    const event = webhook === null ? floorEvent() : eventFor(webhook.workspaceId, DETAIL);
    published.set(event.id, { at: epoch(), url: webhook?.url ?? "/floor" });
    publishing.push("body" in event ? (floor?.publish([event]) ?? Promise.resolve()) : events().publish([event]));
  }
  await Promise.all(publishing);
  const expected = [...published].filter(([, { url }]) => !url.endsWith("/never"));
  const arrived = await untilArrived(expected.map(([id]) => id));
  return expected.map(([id, { at }]) => (arrived.get(id) ?? Number.NaN) - at);
}

/** When each of these events first came, in epoch milliseconds; waits a minute at most. */
async function untilArrived(eventIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const arrived = new Map<string, number>();
  for (let round = 0; round < 600 && !eventIds.every((id) => arrived.has(id)); round += 1) {
    await pause(100);
    for (const { eventId, at } of await take()) if (!arrived.has(eventId)) arrived.set(eventId, at);
  }
  return arrived;
}
