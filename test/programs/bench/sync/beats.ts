import { Client } from "pg";
import { invocationServices, lookTogether } from "../../../../functions/invocation/invocation-services.ts";
import { mappings } from "../../../../functions/services/composition.ts";
import { cycleServices } from "../../../../functions/services/cycle-services.ts";
import { createTestClock } from "../../../../lib/local/clock.ts";
import { CYCLES_AT_ONCE } from "../../../../lib/model/messages.ts";
import { handleCycleMessage } from "../../../../lib/sync/beat/handle-cycle-message.ts";
import { startBridgeCloud } from "../../../support/worlds/bridge-cloud.ts";
import { carryOut, importMappings } from "../../../support/worlds/carry-out.ts";
import { createTestWorkspace } from "../../../support/worlds/workspace.ts";
import { processorTime, say } from "../figures.ts";
import { control, startBenchOrg } from "./bench-org.ts";
import type { Measure } from "./sizes.ts";

const QUIET = { log: () => undefined, figures: () => undefined };
const BEAT_SECONDS = 10;
const PROVISIONED_AT_ONCE = 4;
/** Within five minutes after the late lanes have run, a beat without changes is idle. */
const BEATS_AT_ONCE = 25;

/** Idle beats with the clock stepped, the workspace growing from one mapping to many. */
export const measureBeats: Measure = async (server, { mappings: sizes, idleBeats }) => {
  const names = Array.from({ length: Math.max(...sizes) }, (_, at) => `Beat${at + 1}__c`);
  const key = { name: "Key__c", type: "text", length: 40, externalId: true, unique: true } as const;
  const org = await startBenchOrg({}, [], { objects: names.map((name) => ({ name, fields: [key] })) });
  const cloud = await startBridgeCloud({ clock: createTestClock(new Date()) });
  const postgres = { url: await server.createDatabase(), schema: "salesforce" };
  const { id: workspace_id } = await createTestWorkspace({ postgres, salesforce: org.connection });
  let stepped = 0;
  /** The service's clock keeps up with the org's, which runs on, too. */
  const step = async (seconds: number) => {
    stepped += seconds * 1000;
    await control(org, "POST", "clock", { advanceMilliseconds: seconds * 1000 });
    await cloud.clock.advance({ milliseconds: Math.max(0, Date.now() + stepped - cloud.clock.now()) });
  };
  /** As the fan-out sends them: so many mappings a message, each message in an invocation of its own. */
  const beat = async (ids: readonly string[]) => {
    const slot = Math.floor(cloud.clock.now() / 1000);
    for (let from = 0; from < ids.length; from += CYCLES_AT_ONCE) {
      const some = ids.slice(from, from + CYCLES_AT_ONCE);
      const messages = some.map((mapping_id) => ({ workspace_id, mapping_id, kind: "beat", slot }) as const);
      const needs = { ...invocationServices(messages), ...QUIET };
      const invocation = { owner: "bench", deadline: cloud.clock.now() + 180_000, look: lookTogether(needs) };
      await Promise.all(messages.map((message) => handleCycleMessage(needs, message, invocation)));
    }
  };
  const calls = async () => ((await (await control(org, "GET", "calls")).json()) as { used: number }).used;
  const measure = async (ids: readonly string[], beats: number) => {
    // The late lanes, which are not due again for five minutes.
    await step(300);
    await beat(ids);
    let [processor, sql] = [0, 0];
    const before = await calls();
    for (let index = 0; index < beats; index++) {
      await step(BEAT_SECONDS);
      const [processorBefore, tripsBefore] = [processorTime(), trips()];
      await beat(ids);
      processor += processorTime() - processorBefore;
      sql += trips() - tripsBefore;
    }
    const cycles = beats * ids.length;
    const perFive = ((await calls()) - before) / beats / Math.ceil(ids.length / 5);
    return { mappings: ids.length, trips: sql / cycles, processor: processor / cycles, calls: perFive };
  };
  const measured: Awaited<ReturnType<typeof measure>>[] = [];
  try {
    for (const count of sizes) {
      const asked = names
        .slice(0, count)
        .map((object) => ({ object, fields: ["Name", "Key__c"], upsertField: "Key__c" }));
      await importMappings(workspace_id, asked);
      await carryOut(cloud, { ...cycleServices(), ...QUIET }, PROVISIONED_AT_ONCE);
      const ids = (await mappings().list(workspace_id)).mappings.map(({ id }) => id);
      if (measured.length === 0) await measure(ids, BEATS_AT_ONCE); // code that runs for the first time
      const beats = Math.min(BEATS_AT_ONCE, Math.max(2, Math.ceil((idleBeats * 10) / count)));
      measured.push(await measure(ids, beats));
      say(JSON.stringify(measured.at(-1)));
    }
  } finally {
    await cloud.close();
    org.end();
  }
  const [one, ...more] = measured;
  const [some] = more;
  if (!one || !some) throw new Error("beats of at least two sizes have to be measured");
  const worst = (of: "trips" | "processor" | "calls") => Math.max(...more.map((beats) => beats[of] / one[of]));
  return [
    { name: "idle cycle, the only mapping: SQL round trips", value: one.trips, unit: "", atMost: 3 },
    { name: `idle cycle, ${some.mappings} mappings: SQL round trips`, value: some.trips, unit: "", atMost: 1.2 },
    { name: "  processor time", value: some.processor, unit: "ms", atMost: 10 },
    { name: "  Salesforce calls per five mappings and probe", value: some.calls, unit: "", atMost: 1 },
    { name: "more mappings: round trips each, worst", value: worst("trips"), unit: "×", atMost: 1.1 },
    { name: "  processor time each, worst", value: worst("processor"), unit: "×", atMost: 1.1 },
    { name: "  calls per five, worst", value: worst("calls"), unit: "×", atMost: 1.1 },
  ];
};

const trips = countTrips();

/** Counts what any client of this process asks PostgreSQL: each is one round trip. */
function countTrips(): () => number {
  let count = 0;
  const query = Client.prototype.query as (...asked: unknown[]) => unknown;
  Object.assign(Client.prototype, {
    query(this: Client, ...asked: unknown[]) {
      count += 1;
      return query.apply(this, asked);
    },
  });
  return () => count;
}
