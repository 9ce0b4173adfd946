import { Client } from "pg";
import { invocationServices, lookTogether } from "../../../../functions/invocation/invocation-services.ts";
import { mappings } from "../../../../functions/services/composition.ts";
import { cycleServices } from "../../../../functions/services/cycle-services.ts";
import { createTestClock } from "../../../../lib/local/clock.ts";
import type { Mapping } from "../../../../lib/model/mapping/mapping.ts";
import { CYCLES_AT_ONCE } from "../../../../lib/model/messages.ts";
import { handleCycleMessage } from "../../../../lib/sync/beat/handle-cycle-message.ts";
import { type BridgeCloud, startBridgeCloud } from "../../../support/worlds/bridge-cloud.ts";
import { carryOut, importMappings } from "../../../support/worlds/carry-out.ts";
import { createTestWorkspace } from "../../../support/worlds/workspace.ts";
import type { BenchServer } from "./bench-database.ts";
import { type BenchOrg, control, startBenchOrg } from "./bench-org.ts";
import type { Figure, Sizes } from "./figure.ts";

/** What idle beats of so many mappings of one workspace took, for each mapping and beat. */
interface Beats {
  readonly mappings: number;
  readonly trips: number;
  readonly cpuMilliseconds: number;
  readonly callsPerBeat: number;
}

const BEAT_SECONDS = 10;
const PROVISIONED_AT_ONCE = 4;
/** Within five minutes after the late lanes have run, a beat without changes is idle. */
const BEATS_AT_ONCE = 25;

/** Idle beats with the clock stepped, the workspace growing from one mapping to many. */
export async function measureBeats(server: BenchServer, sizes: Sizes, say: (text: string) => void): Promise<Figure[]> {
  const most = Math.max(...sizes.mappings);
  const names = Array.from({ length: most }, (_, at) => `Beat${at + 1}__c`);
  const key = { name: "Key__c", type: "text", length: 40, externalId: true, unique: true } as const;
  const org = await startBenchOrg({}, [], { objects: names.map((name) => ({ name, fields: [key] })) });
  const cloud = await startBridgeCloud({ clock: createTestClock(new Date()) });
  try {
    const workspace = await createTestWorkspace({
      postgres: { url: await server.createDatabase(), schema: "salesforce" },
      salesforce: org.connection,
    });
    const beats = createBeats(cloud, org, workspace.id);
    const measured: Beats[] = [];
    for (const count of sizes.mappings) {
      await beats.growTo(names.slice(0, count));
      if (measured.length === 0) await beats.measure(BEATS_AT_ONCE);
      measured.push(
        await beats.measure(Math.min(BEATS_AT_ONCE, Math.max(2, Math.ceil((sizes.idleBeats * 10) / count)))),
      );
      say(`${count} mappings: ${JSON.stringify(measured.at(-1))}`);
    }
    return figuresOf(measured);
  } finally {
    await cloud.close();
    org.end();
  }
}

function figuresOf(measured: readonly Beats[]): Figure[] {
  const [one, some] = measured;
  const last = measured.at(-1);
  if (!one || !some || !last) throw new Error("beats of at least two sizes have to be measured");
  const more = measured.slice(1);
  const worst = (of: (beats: Beats) => number) => Math.max(...more.map((beats) => of(beats) / of(one)));
  const calls = ({ callsPerBeat, mappings: count }: Beats) => callsPerBeat / Math.ceil(count / 5);
  return [
    { name: "idle cycle, the only mapping: SQL round trips", value: one.trips, unit: "", atMost: 3 },
    { name: `idle cycle, ${some.mappings} mappings: SQL round trips`, value: some.trips, unit: "", atMost: 1.2 },
    { name: "  processor time", value: some.cpuMilliseconds, unit: "ms", atMost: 10 },
    { name: "  Salesforce calls per five mappings and probe", value: calls(some), unit: "", atMost: 1 },
    {
      name: `1 to ${last.mappings} mappings: round trips per mapping, worst`,
      value: worst(({ trips }) => trips),
      unit: "×",
      atMost: 1.1,
    },
    {
      name: "  processor time per mapping, worst",
      value: worst(({ cpuMilliseconds }) => cpuMilliseconds),
      unit: "×",
      atMost: 1.1,
    },
    { name: "  calls per five mappings, worst", value: worst(calls), unit: "×", atMost: 1.1 },
  ];
}

function createBeats(cloud: BridgeCloud, org: BenchOrg, workspaceId: string) {
  const services = { ...cycleServices(), log: () => undefined, figures: () => undefined };
  let stepped = 0;
  let all: readonly Mapping[] = [];

  /** The service's clock keeps up with the org's, which runs on, too. */
  const step = async (seconds: number) => {
    stepped += seconds * 1000;
    await control(org, "POST", "clock", { advanceMilliseconds: seconds * 1000 });
    await cloud.clock.advance({ milliseconds: Math.max(0, Date.now() + stepped - cloud.clock.now()) });
  };
  /** As the fan-out sends them: so many mappings a message, each message in an invocation of its own. */
  const beat = async (): Promise<void> => {
    const slot = Math.floor(cloud.clock.now() / 1000);
    for (let from = 0; from < all.length; from += CYCLES_AT_ONCE) {
      const some = all.slice(from, from + CYCLES_AT_ONCE);
      const messages = some.map(
        ({ id }) => ({ workspace_id: workspaceId, mapping_id: id, kind: "beat", slot }) as const,
      );
      const needs = { ...invocationServices(messages), log: () => undefined, figures: () => undefined };
      const invocation = { owner: "bench", deadline: cloud.clock.now() + 180_000, look: lookTogether(needs) };
      await Promise.all(messages.map((message) => handleCycleMessage(needs, message, invocation)));
    }
  };

  return {
    growTo: async (names: readonly string[]) => {
      await importMappings(
        workspaceId,
        names.map((object) => ({ object, fields: ["Name", "Key__c"], upsertField: "Key__c" })),
      );
      await carryOut(cloud, services, PROVISIONED_AT_ONCE);
      all = [...(await mappings().list(workspaceId)).mappings];
    },
    measure: async (count: number): Promise<Beats> => {
      // The late lanes, which are not due again for five minutes.
      await step(300);
      await beat();
      let [cpu, sql] = [0, 0];
      const before = await calls(org);
      for (let index = 0; index < count; index++) {
        await step(BEAT_SECONDS);
        const [cpuBefore, tripsBefore] = [process.cpuUsage(), trips()];
        await beat();
        const { user, system } = process.cpuUsage(cpuBefore);
        cpu += (user + system) / 1000;
        sql += trips() - tripsBefore;
      }
      const cycles = count * all.length;
      const callsPerBeat = ((await calls(org)) - before) / count;
      return { mappings: all.length, trips: sql / cycles, cpuMilliseconds: cpu / cycles, callsPerBeat };
    },
  };
}

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

async function calls(org: BenchOrg): Promise<number> {
  return ((await (await control(org, "GET", "calls")).json()) as { used: number }).used;
}
