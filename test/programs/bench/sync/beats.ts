import { Client } from "pg";
import { invocationServices, lookTogether } from "../../../../functions/invocation/invocation-services.ts";
import { mappings } from "../../../../functions/services/composition.ts";
import { cycleServices } from "../../../../functions/services/cycle-services.ts";
import { createTestClock } from "../../../../lib/local/clock.ts";
import { handleCycleMessage } from "../../../../lib/sync/beat/handle-cycle-message.ts";
import { startBridgeCloud } from "../../../support/worlds/bridge-cloud.ts";
import { carryOut, importMappings } from "../../../support/worlds/carry-out.ts";
import { createTestWorkspace } from "../../../support/worlds/workspace.ts";
import type { Figure } from "../figures.ts";
import { control } from "./bench.ts";
import type { SyncMeasure } from "./sizes.ts";

const QUIET = { log: () => undefined, figures: () => undefined };
const BEAT_SECONDS = 10;
/** Within five minutes after the late lanes have run, a beat without changes is idle. */
const BEATS = 25;
const MOST_TRIPS = { one: 3, each: 1.2 };
const MAPPINGS = 10;

/** SQL round trips of an idle cycle, of the only mapping of a workspace and of several, the clock stepped. */
export const measureBeats: SyncMeasure = async (bench) => {
  const names = Array.from({ length: MAPPINGS }, (_, at) => `Beat${at + 1}__c`);
  const key = { name: "Key__c", type: "text", length: 40, externalId: true, unique: true } as const;
  const org = await bench.createOrg({}, [], { objects: names.map((name) => ({ name, fields: [key] })) });
  const cloud = await startBridgeCloud({ clock: createTestClock(new Date()) });
  const postgres = { url: (await bench.createDatabase()).url, schema: "salesforce" };
  const { id: workspace_id } = await createTestWorkspace({ postgres, salesforce: org.connection });
  let stepped = 0;
  /** The service's clock keeps up with the org's, which runs on, too. */
  const step = async (seconds: number) => {
    stepped += seconds * 1000;
    await control(org, "POST", "clock", { advanceMilliseconds: seconds * 1000 });
    await cloud.clock.advance({ milliseconds: Math.max(0, Date.now() + stepped - cloud.clock.now()) });
  };
  /** As the fan-out sends them, in one message. */
  const beat = async (ids: readonly string[]) => {
    const slot = Math.floor(cloud.clock.now() / 1000);
    const messages = ids.map((mapping_id) => ({ workspace_id, mapping_id, kind: "beat", slot }) as const);
    const needs = { ...invocationServices(messages), ...QUIET };
    const invocation = { owner: "bench", deadline: cloud.clock.now() + 180_000, look: lookTogether(needs) };
    await Promise.all(messages.map((message) => handleCycleMessage(needs, message, invocation)));
  };
  const figures: Figure[] = [];
  for (const [count, atMost] of [
    [1, MOST_TRIPS.one],
    [MAPPINGS, MOST_TRIPS.each],
  ] as const) {
    const asked = names
      .slice(0, count)
      .map((object) => ({ object, fields: ["Name", "Key__c"], upsertField: "Key__c" }));
    await importMappings(workspace_id, asked);
    await carryOut(cloud, { ...cycleServices(), ...QUIET }, 4);
    const ids = (await mappings().list(workspace_id)).mappings.map(({ id }) => id);
    const live = async () => {
      // The late lanes, which are not due again for five minutes.
      await step(300);
      await beat(ids);
      const before = trips();
      for (let index = 0; index < BEATS; index++) {
        await step(BEAT_SECONDS);
        await beat(ids);
      }
      return trips() - before;
    };
    if (figures.length === 0) await live(); // a new mapping's first beats, and code that runs for the first time
    const value = (await live()) / BEATS / count;
    figures.push({ name: `idle cycle, mappings ${count}: SQL round trips`, value, unit: "", atMost });
  }
  await cloud.close();
  return figures;
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
