import { expect, test } from "vitest";
import { guardLease } from "../../../../lib/sync/lease/lease-guard.ts";
import { type BeginRequest, LeaseLost, LongWorkUnderWay } from "../../../../lib/sync/ports/lease-ports.ts";
import { ModelClock } from "../../../support/doubles/model-clock.ts";
import { image, orgTime, page, sfidOf, untilSomebodyWaits } from "../customer.ts";
import { END, idsOf, loseLease, request, whileLeft } from "../cycles.ts";
import { aCustomerForEachTest, customer, insert, sql, transaction } from "../world.ts";

aCustomerForEachTest();

const LOAD = { kind: "load", startedAt: orgTime(0), afterId: sfidOf(1), bulk: null, afterRow: null } as const;

test("one cycle of a mapping runs at a time, a slot is used once, and a poll takes the lease whatever the slot", async () => {
  const store = await customer.store();
  const begins = async (slot: number | null) => {
    const begun = await store.begin(request({ slot }));
    if (begun.held) await store.finish(begun.lease, END);
    return begun.held || begun.why;
  };
  const first = await store.begin(request({ slot: 100 }));
  const during = await begins(110);
  if (first.held) await store.finish(first.lease, END);

  expect([first.held, during]).toEqual([true, "running"]);
  expect([await begins(100), await begins(90), await begins(110)]).toEqual(["slot taken", "slot taken", true]);
  expect([await begins(null), await begins(110), await begins(120)]).toEqual([true, "slot taken", true]);
});

test.each(["cycle", "load"] as const)(
  "the lease of a %s is its holder's to the last second, and free just after it",
  async (work) => {
    const store = await customer.store();
    const begun = (seconds: number) => whileLeft(seconds, work, () => store.begin(request({ work })));

    for (const seconds of [29, 20, 10, 5, 1]) {
      expect(await begun(seconds)).toEqual({ held: false, why: "running" });
    }
    expect(await begun(-0.001)).toMatchObject({ held: true, lease: { work } });
  },
);

test("a cycle hands no long work over while other long work has a second of its lease left", async () => {
  const { store, lease } = await customer.cycle();
  const load = { ...LOAD, kind: "backlog" } as const;
  const handedOver = (seconds: number) =>
    whileLeft(seconds, "load", () =>
      store.apply(lease, page([], { marks: { load } })).then(
        () => "handed over",
        (error: Error) => error,
      ),
    );

  for (const seconds of [20, 5, 1]) expect(await handedOver(seconds)).toBeInstanceOf(LongWorkUnderWay);
  expect(await handedOver(-0.001)).toBe("handed over");
});

test("many that ask at once get one lease", async () => {
  const stores = await Promise.all(Array.from({ length: 8 }, () => customer.store()));

  const begun = await Promise.all(stores.map((store) => store.begin(request({ slot: 100 }))));

  expect(begun.filter(({ held }) => held)).toHaveLength(1);
});

test("long work runs beside a cycle, and a page of it never holds the beat back", async () => {
  const beat = await customer.store();
  let during: Awaited<ReturnType<typeof beat.begin>> | undefined;
  const load = await customer.cycle({
    work: "load",
    before: async (statement) => {
      if (/^INSERT INTO "?salesforce"?."?contact"? /.test(statement)) during = await beat.begin(request({ slot: 100 }));
    },
  });

  await load.store.apply(
    load.lease,
    page([image(1, 1, { lastname: "Curie" })], { lane: "load", marks: { load: LOAD } }),
  );

  expect(during).toMatchObject({ held: true, lease: { work: "cycle" } });
});

test("the end of long work locks the mapping's row before its load, as a reload does", async () => {
  const load = await customer.cycle({ work: "load" });
  const other = await transaction("SELECT FROM salesforce._bridge_state FOR UPDATE");

  const ending = load.store.finish(load.lease, END);
  await untilSomebodyWaits(customer.application);
  await other.query("SELECT FROM salesforce._bridge_loads FOR UPDATE NOWAIT");
  await other.query("COMMIT");
  await ending;

  expect(await sql("SELECT lease_until FROM salesforce._bridge_loads")).toEqual([{ lease_until: null }]);
});

test("marks are committed with the rows and read at the next beginning", async () => {
  const { store, lease } = await customer.cycle();
  const fast = { stamp: orgTime(5), afterId: sfidOf(1) };
  const lanes = { fast, pages: 3 };
  const size = { rows: 1, fields: 0, since: 7 };

  const marks = { position: orgTime(5), lanes, load: LOAD };
  await store.apply(lease, page([image(1, 1, { lastname: "Curie" })], { marks }));
  const finished = { deleted: orgTime(6), lanes: { size, pages: undefined } };
  await store.finish(lease, { ...END, marks: finished, pulledAt: orgTime(7) });
  const { begun } = await customer.cycle();

  const { position, load } = marks;
  expect(begun.marks).toEqual({ position, slow: null, deleted: orgTime(6), lanes: { fast, size }, load });
  expect(begun.lastPullAt).toEqual(orgTime(7));
});

test("a lease that ran out goes to the next, and nothing of the first is written any more", async () => {
  await insert("Curie");
  const { store, lease } = await customer.cycle();
  const ids = idsOf(await store.claim(lease, 1));
  await loseLease();
  await customer.cycle();
  await sql("UPDATE salesforce._bridge_state SET running_failed = 3");
  const before = await everything();

  expect(await store.renew(lease, 30)).toBe("lost");
  const marks = { position: new Date(1000), slow: new Date(1000), deleted: new Date(1000) };
  for (const stale of [
    () => store.claim(lease, 1),
    () => store.markSent(lease, "batch", ids),
    () => store.apply(lease, page([image(1, 1, { lastname: "stale" })])),
    () => store.recover(lease),
    () => store.settle(lease, [{ kind: "settled", changeIds: ids, recordId: 1 }]),
    () => store.finish(lease, { ...END, marks, pulledAt: new Date(1000), error: "stale" }),
  ])
    await expect(stale()).rejects.toBeInstanceOf(LeaseLost);
  await store.release(lease, ids);
  expect(await everything()).toEqual(before);
  const successor = { held: false, why: "running" };
  expect(await (await customer.store()).begin(request()), "the successor still has it").toEqual(successor);
});

/** Every row of every table. */
async function everything(): Promise<unknown> {
  const tables = await sql("SELECT tablename FROM pg_tables WHERE schemaname = 'salesforce' ORDER BY 1");
  return Promise.all(tables.map(({ tablename }) => sql(`SELECT * FROM salesforce.${tablename} t ORDER BY t::text`)));
}

test("a cycle that is frozen between its mark and the check of the clock saves nothing when another has the lease by then", async () => {
  await insert("Curie");
  const { store, lease } = await customer.cycle();
  const ids = idsOf(await store.claim(lease, 1));
  const clock = new ModelClock();
  const hold = guardLease(store, lease, clock, clock.now() + 900_000);
  const frozen = async (seconds: number, meanwhile: () => Promise<unknown>) =>
    hold.maySave(async (leaseSeconds) => {
      const answer = await store.markSent(lease, "batch", ids, leaseSeconds);
      clock.pass(seconds);
      await meanwhile();
      return answer;
    });

  await frozen(20, () => sql("UPDATE salesforce._bridge_state SET lease_until = now() + interval '10 s'"));
  const renewed = "SELECT lease_until > now() + interval '20 s' AS renewed FROM salesforce._bridge_state";
  expect(await sql(renewed), "no other has it").toEqual([{ renewed: true }]);
  const overtaken = frozen(49, async () => {
    await loseLease();
    await customer.cycle();
  });
  await expect(overtaken).rejects.toMatchObject({ name: "CycleStopped", reason: "lost" });
  expect(await store.renew(lease, 30)).toBe("lost");
  expect(await store.begin(request()), "nothing is taken from it").toEqual({ held: false, why: "running" });
});

test.each(["cycle", "load"] as const)(
  "what a %s of before a restore does is refused, also while a later one has the same fence",
  async (work) => {
    const store = await customer.store();
    const begin = async (owner: BeginRequest["owner"]) => {
      const begun = await store.begin(request({ work, owner }));
      if (!begun.held) throw new Error("the lease was free");
      return begun.lease;
    };
    const before = await begin("before");
    const table = work === "cycle" ? "_bridge_state" : "_bridge_loads";
    await sql(`UPDATE salesforce.${table} SET fence = fence - 1, lease_owner = 'earlier', lease_until = NULL`);
    const after = await begin("after");

    expect(after.fence).toBe(before.fence);
    expect(await store.renew(before, 30)).toBe("lost");
    const stale = page([image(1, 1, { lastname: "stale" })]);
    await expect(store.apply(before, stale)).rejects.toBeInstanceOf(LeaseLost);
    await expect(store.finish(before, END)).rejects.toBeInstanceOf(LeaseLost);
    expect(await store.renew(after, 30)).toBe("held");
  },
);

test("an unknown mapping, one whose tables are of an earlier version, or an empty database, is reported as not provisioned", async () => {
  const store = await customer.store();
  const behind = await store.begin(request({ configVersion: 2 }));
  const unknown = await store.begin(request({ mappingId: "map_other" }));
  await customer.provision({ configVersion: 2 });
  expect(await store.begin(request())).toEqual({ held: false, why: "config behind" });
  await sql("DROP SCHEMA salesforce CASCADE");
  const empty = await store.begin(request());

  expect([behind, unknown, empty]).toEqual(Array(3).fill({ held: false, why: "not provisioned" }));
  expect(await store.pulses(["map_contact"])).toEqual([]);
});

test("a cycle without work makes three round trips: it begins, ends, and counts what waits", async () => {
  let statements = 0;
  const { store, lease } = await customer.cycle({ before: async () => void statements++ });

  await store.finish(lease, END);

  expect(statements).toBe(3);
});
