import { CreateScheduleCommand } from "@aws-sdk/client-scheduler";
import { expect, test } from "vitest";
import { importPlans, mappings as kept, ticks as noted, queue } from "../../../functions/services/composition.ts";
import { provisioningServices, schedules, swept } from "../../../functions/services/provisioning-services.ts";
import { phaseOf } from "../../../lib/model/beat.ts";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import type { CycleMessage, ProvisioningMessage, TickMessage } from "../../../lib/model/messages.ts";
import { fanOut } from "../../../lib/sync/beat/fan-out.ts";
import { handleCycleMessage } from "../../../lib/sync/beat/handle-cycle-message.ts";
import { sweep } from "../../../lib/sync/beat/sweep-minute.ts";
import type { MessageNeeds } from "../../../lib/sync/ports/cycle-ports.ts";
import { provisionMapping } from "../../../lib/sync/schema/provision-mapping.ts";
import { allInOneWorld, world } from "../world.ts";

allInOneWorld(async () => {
  // A schedule that is created in the very millisecond of its time fires at once, for a period that activation has covered.
  await world.pass(1);
  await world.mapContact(["LastName"]);
});

const scheduled = async () => {
  const found: string[] = [];
  for await (const { mappingId, isOld } of schedules().list()) found.push(isOld ? `${mappingId}, old` : mappingId);
  return found;
};

async function sweepNow(): Promise<void> {
  const queues = { provisioning: queue("provisioning"), loads: queue("loads") };
  await sweep({
    mappings: kept(),
    schedules: schedules(),
    swept: swept(),
    queues,
    clock: world.cloud.clock,
    log: () => undefined,
  });
}

/** The beats that wait now, seen once their time has come. */
async function beatsWithin(seconds: number): Promise<CycleMessage[]> {
  await world.pass(seconds);
  return ((await world.cloud.take("cycles")) as CycleMessage[]).filter(({ kind }) => kind === "beat");
}

test("a mapping that becomes active has its schedule, and beats every ten seconds from the start", async () => {
  expect(await scheduled()).toEqual([world.contact.id]);

  const slots = (await beatsWithin(120)).map(({ slot }) => slot ?? 0).sort();

  expect(slots.length).toBeGreaterThanOrEqual(6);
  expect(slots.every((slot, index) => index === 0 || slot - (slots[index - 1] ?? 0) === 10)).toBe(true);
});

test("the schedule's tick names its period, and the fan-out makes thirty beats of it", async () => {
  let last: TickMessage | undefined;
  for (let waits = 0; last === undefined && waits < 40; waits += 1) {
    await world.pass(10);
    last = ((await world.cloud.take("fanOut")) as TickMessage[]).at(-1);
  }
  if (!last) throw new Error("the schedule did not fire");
  expect(last).toMatchObject({ workspace_id: world.workspaceId, mapping_id: world.contact.id });
  await world.cloud.take("cycles");

  await fanOut({ cycles: queue("cycles"), ticks: noted(), clock: world.cloud.clock }, [last]);

  // What activation itself had sent ends before.
  const period = new Date(last.scheduled_at).getTime() / 1000;
  expect((period / 60) % 5).toBe(phaseOf(world.workspaceId) % 5);
  const beats = (await beatsWithin(610)).filter(({ slot }) => (slot ?? 0) >= period + 300);
  expect(beats.map(({ slot }) => (slot ?? 0) % 10)).toEqual(Array(30).fill(phaseOf(world.workspaceId)));
  expect((await noted().read(world.workspaceId)).get(world.contact.id)).toBe(period);
});

const PAUSE = { paused: true, at: new Date(0), by: "ada@example.com", reason: null, scope: "workspace" } as const;

test.each<[string, Partial<Pick<MessageNeeds, "mappings" | "pauses">>, string]>([
  ["paused", { pauses: { find: async () => PAUSE } }, "paused"],
  ["deactivated", findsChanged({ active: false }), "not active"],
  ["deleted", { mappings: { find: async () => null, listActive: async () => [] } }, "not active"],
  ["given another configuration", findsChanged({ configVersion: 99 }), "its table is being created"],
])("beats that wait in the queue do nothing from the moment on when their mapping is %s", async (_, found, why) => {
  const slot = Math.floor(world.cloud.clock.now() / 1000);
  const message = {
    workspace_id: world.workspaceId,
    mapping_id: world.contact.id,
    kind: "beat",
    slot,
    mark: "beat",
  } as const;
  const ends: (string | null)[] = [];
  const engine = {
    ...world.services.engine,
    endPoll: async (...end: [string, string, { error: string | null }]) => void ends.push(end[2].error),
  };
  const connections = {
    openStore: async () => Promise.reject(new Error("it asks the database")),
    connectOrg: async () => Promise.reject(new Error("it asks the org")),
  };
  const deadline = world.cloud.clock.now() + 180_000;

  await handleCycleMessage({ ...world.services, connections, engine, ...found }, message, { owner: "test", deadline });

  expect(ends).toEqual([expect.stringContaining(why)]);
});

function findsChanged(change: Partial<Mapping>): Pick<MessageNeeds, "mappings"> {
  return { mappings: { find: async () => ({ ...world.contact, ...change }), listActive: async () => [] } };
}

test("a schedule that is missing is created again, one of the version before gives way, and those of no mapping go", async () => {
  await schedules().remove(world.contact.id);
  await schedules().ensure({ workspaceId: world.workspaceId, mappingId: "map_superfluous" });
  const target = { Arn: process.env["FAN_OUT_QUEUE_ARN"], RoleArn: process.env["SCHEDULER_ROLE_ARN"], Input: "{}" };
  for (const Name of [world.contact.id, "map_gone"])
    await world.cloud.clients.scheduler.send(
      new CreateScheduleCommand({
        ...{ Name, GroupName: process.env["SCHEDULE_GROUP"], ScheduleExpression: "rate(1 minute)", Target: target },
        FlexibleTimeWindow: { Mode: "OFF" },
      }),
    );
  expect((await scheduled()).sort()).toEqual([`${world.contact.id}, old`, "map_gone, old", "map_superfluous"].sort());

  await sweepNow();

  expect(await scheduled()).toEqual([world.contact.id]);
});

test("both sides are compared whole once a day, or on one day of seven where a mapping says so, and described each day", async () => {
  const begun = world.cloud.clock.now();
  // Fourteen days to the minute, so that each minute of the day comes fourteen times.
  type Sent = { readonly message: { readonly mapping_id: string | null } };
  const [loads, provisioning, minutes]: [Sent[], Sent[], number[]] = [[], [], [Math.floor(begun / 60_000)]];
  const into = (all: Sent[]) => ({ send: async (messages: readonly Sent[]) => void all.push(...messages) });
  const queues = { loads: into(loads), provisioning: into(provisioning) };
  const keptMinute = {
    read: async () => minutes.at(-1) ?? null,
    keep: async (minute: number) => void minutes.push(minute),
  };
  const everywhere = async function* () {
    yield { mapping: world.contact };
    yield { mapping: { ...world.contact, id: "map_weekly", sweepDays: 7 } };
  };
  const of = (sent: readonly Sent[], id: string) => sent.filter(({ message }) => message.mapping_id === id).length;

  for (let hours = 1; hours <= 14 * 24; hours++)
    await sweep({
      ...{ queues, swept: keptMinute, schedules: schedules(), log: () => undefined },
      mappings: { everywhere },
      clock: { ...world.cloud.clock, now: () => begun + hours * 3_600_000 },
    });

  expect([of(loads, world.contact.id), of(provisioning, world.contact.id)]).toEqual([14, 14]);
  expect([of(loads, "map_weekly"), of(provisioning, "map_weekly")]).toEqual([2, 14]);
});

test("an import whose message was lost is found by the minute sweep, and carried out once", async () => {
  await world.cloud.take("provisioning");
  const { generation, mappings } = await kept().list(world.workspaceId);
  const before = mappings.find(({ id }) => id === world.contact.id);
  if (!before) throw new Error("the mapping is gone");
  const after = { ...before, pollingSeconds: 77, configVersion: before.configVersion + 1 };
  const at = new Date(world.cloud.clock.now());
  const made = { workspaceId: world.workspaceId, actor: "owner@example.com" };
  const entry = { ...made, id: "aud_lost", action: "config.imported", resourceId: "imp_lost", detail: {} } as const;
  const plan = { ...made, id: "imp_lost", at, changes: [{ before, after }] };
  expect(await importPlans().commit(plan, generation, { ...entry, createdAt: at })).toBe(true);

  await sweepNow();
  const asked = (await world.cloud.take("provisioning")) as ProvisioningMessage[];
  for (const message of asked.filter(({ import_id }) => import_id !== null)) {
    await provisionMapping(
      { ...provisioningServices(world.cloud.clock.now() + 300_000), log: () => undefined },
      message,
    );
  }

  expect(asked).toContainEqual({ workspace_id: world.workspaceId, mapping_id: null, import_id: "imp_lost" });
  expect(await importPlans().open(world.workspaceId)).toBeNull();
  expect((await world.cloud.take("provisioning")) as ProvisioningMessage[]).toMatchObject([
    { mapping_id: world.contact.id },
  ]);
  await sweepNow();
  expect(((await world.cloud.take("provisioning")) as ProvisioningMessage[]).filter((one) => one.import_id)).toEqual(
    [],
  );
});
