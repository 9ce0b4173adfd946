import { expect, test } from "vitest";
import type { Cycle } from "../../../lib/sync/cycle/cycle.ts";
import { hasPassedOn } from "../../../lib/sync/push/requeue-late-saves.ts";
import { firstInGate } from "../../support/run/whole-grid.ts";
import { eachInAWorld, world } from "../world.ts";

eachInAWorld(() => world.mapContact(["External_Id__c", "LastName"], { upsertField: "External_Id__c" }));

const CUT_CONNECTIONS = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = 'bridge'`;

const notes = () => world.log.flatMap((line) => (line["notes"] as string[] | undefined) ?? []);

const WAYS_TO_BE_LATE: readonly (readonly [string, () => Promise<unknown>, () => Promise<unknown>])[] = [
  ["whose PostgreSQL is away just then", () => world.databaseGoesAway(), () => world.databaseComesBack()],
  ["whose connection lives", async () => undefined, async () => undefined],
  ["whose connection was closed meanwhile", () => world.sql(CUT_CONNECTIONS), async () => undefined],
];

test.each(firstInGate(1, WAYS_TO_BE_LATE))(
  "a cycle %s saves later than its lease lived, and what was sent since goes again",
  async (_, cut, mend) => {
    await world.sql("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('Sklodowska', 'C-1')");
    let writes = 0;
    let isCut = false;
    world.interfere(async (call) => {
      if (call === "store.renew" && isCut) await mend();
      if (call !== "org.write" || ++writes > 1) return;
      await world.sql("UPDATE salesforce._bridge_state SET lease_until = NULL");
      await world.cycles();
      const [record] = await world.soql("SELECT Id FROM Contact");
      await world.pass(10);
      await world.colleague("PATCH", `/sobjects/Contact/${record?.["Id"]}`, { LastName: "Joliot" });
      await world.pass(10);
      await world.cycles();
      await world.sql("UPDATE salesforce.contact SET lastname = 'Curie' WHERE lastname = 'Joliot'");
      await world.cycles();
      await cut();
      isCut = true;
    });

    await world.cycles();
    world.interfere(null);
    const late = await world.soql("SELECT LastName FROM Contact");
    await world.cycles();

    expect(late).toEqual([{ LastName: "Sklodowska" }]);
    expect(notes()).toContain("1 saves came after the lease was lost; 1 changes go again that were sent since");
    expect(await world.soql("SELECT LastName FROM Contact")).toEqual([{ LastName: "Curie" }]);
    expect(await world.sql("SELECT lastname, _ab_lastop FROM salesforce.contact")).toEqual([
      { lastname: "Curie", _ab_lastop: "UPDATED" },
    ]);
  },
);

test("the later one of two calls that a cycle made too late is reported as well", async () => {
  await world.insertKeyed(201);
  const thawed = Promise.withResolvers<void>();
  let writes = 0;
  let settles = 0;
  world.interfere(async (call) => {
    // The first call's results are stored while the second one is sent.
    if (call === "store.settle" && writes === 2 && ++settles === 1) await thawed.promise;
    if (call !== "org.write" || ++writes !== 2) return;
    await world.sql("UPDATE salesforce._bridge_state SET lease_until = NULL");
    await world.cycles();
    await world.sql("UPDATE salesforce.contact SET lastname = 'Curie' WHERE id = 201");
    await world.cycles();
    thawed.resolve();
  });

  await world.cycles();
  world.interfere(null);
  const late = await world.soql("SELECT LastName FROM Contact WHERE External_Id__c = 'K-201'");
  await world.cycles();

  expect(late).toEqual([{ LastName: "L201" }]);
  expect(await world.soql("SELECT LastName FROM Contact WHERE External_Id__c = 'K-201'")).toEqual([
    { LastName: "Curie" },
  ]);
});

test("while PostgreSQL is away it is asked for half a minute whether the lease has passed on, and then the cycle says that it is unknown", async () => {
  const away = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
  let seconds = 0;
  const cycle = {
    store: { renew: () => Promise.reject(away) },
    clock: {
      now: () => seconds * 1000,
      at: (milliseconds: number, run: () => void) => {
        seconds = milliseconds / 1000;
        run();
      },
    },
    tally: { notes: [] as string[] },
  };
  const save = { kind: "accepted", changeIds: [1], recordId: 1, action: "UPDATE", sfid: null } as const;

  const isLost = await hasPassedOn(cycle as unknown as Cycle, [{ ...save, answeredAt: new Date(0) }], away);

  expect([isLost, seconds]).toEqual([false, 30]);
  expect(cycle.tally.notes).toEqual(["1 saves could not be recorded, and it is unknown whether they came too late"]);
});
