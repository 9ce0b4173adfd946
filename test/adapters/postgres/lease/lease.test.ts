import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { guardLease } from "../../../../lib/sync/lease/lease-guard.ts";
import { type BeginRequest, LeaseLost, LongWorkUnderWay } from "../../../../lib/sync/ports/lease-ports.ts";
import { ModelClock } from "../../../support/doubles/model-clock.ts";
import { column } from "../../../support/worlds/shapes.ts";
import { type Customer, createCustomer, image, page, untilSomebodyWaits } from "../customer.ts";

let customer: Customer;
beforeEach(async () => {
  customer = await createCustomer();
});
afterEach(() => customer.close());

const END = { marks: {}, pulledAt: null, apiCalls: {}, error: null };
const request = (more: Partial<BeginRequest> = {}): BeginRequest => ({
  mappingId: "map_contact",
  work: "cycle",
  configVersion: 1,
  owner: "a test",
  slot: null,
  leaseSeconds: 30,
  ...more,
});

test("one cycle of a mapping runs at a time, and a slot is used once", async () => {
  const store = await customer.store();
  const first = await store.begin(request({ slot: 100 }));
  const during = await store.begin(request({ slot: 110 }));
  if (first.held) await store.finish(first.lease, END);

  const doubled = await store.begin(request({ slot: 100 }));
  const late = await store.begin(request({ slot: 90 }));
  const next = await store.begin(request({ slot: 110 }));

  expect(first.held).toBe(true);
  expect(during).toEqual({ held: false, why: "running" });
  expect([doubled, late]).toEqual([
    { held: false, why: "slot taken" },
    { held: false, why: "slot taken" },
  ]);
  expect(next.held).toBe(true);
});

/** What is done while a lease has so many seconds left; done again where the machine took longer than that. */
async function whileLeft<Answer>(seconds: number, work: BeginRequest["work"], ask: () => Promise<Answer>) {
  const table = `salesforce.${work === "cycle" ? "_bridge_state" : "_bridge_loads"}`;
  for (;;) {
    const [set] = await customer.sql(
      `UPDATE ${table} SET lease_until = clock_timestamp() + make_interval(secs => $1), fence = fence + 1 RETURNING lease_until::text`,
      [seconds],
    );
    const answer = await ask();
    const [left] = await customer.sql("SELECT clock_timestamp() < $1::timestamptz AS is_left", [set?.["lease_until"]]);
    if (left?.["is_left"] === seconds > 0) return answer;
  }
}

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
  const load = { kind: "backlog", startedAt: new Date(0), afterId: null, bulk: null, afterRow: null } as const;
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

test("a poll takes the lease whatever the slot, and leaves the slots as they were", async () => {
  const store = await customer.store();
  const beat = await store.begin(request({ slot: 100 }));
  if (beat.held) await store.finish(beat.lease, END);
  const poll = await store.begin(request());
  if (poll.held) await store.finish(poll.lease, END);

  expect(poll.held).toBe(true);
  expect(await store.begin(request({ slot: 100 }))).toMatchObject({ why: "slot taken" });
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
    page([image(1, 1, { lastname: "Curie" })], {
      lane: "load",
      marks: { load: { kind: "load", startedAt: new Date(0), afterId: null, bulk: null, afterRow: null } },
    }),
  );

  expect(during).toMatchObject({ held: true, lease: { work: "cycle" } });
});

test("the end of long work locks the mapping's row before its load, as a reload does", async () => {
  const load = await customer.cycle({ work: "load" });
  const other = await customer.connect();
  await other.query("BEGIN");
  await other.query("SELECT FROM salesforce._bridge_state FOR UPDATE");

  const ending = load.store.finish(load.lease, END);
  await untilSomebodyWaits(customer.application);
  await other.query("SELECT FROM salesforce._bridge_loads FOR UPDATE NOWAIT");
  await other.query("COMMIT");
  await ending;

  expect(await customer.sql("SELECT lease_until FROM salesforce._bridge_loads")).toEqual([{ lease_until: null }]);
});

test("a lease that ran out goes to the next, and nothing of the first is written any more", async () => {
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");
  const first = await customer.cycle();
  const [change] = await first.store.claim(first.lease, 1);
  const id = Number(change?.id);
  await customer.sql("UPDATE salesforce._bridge_state SET lease_until = now(), running_failed = 3");
  await customer.cycle();
  await customer.sql("UPDATE salesforce._bridge_state SET running_failed = 3");
  const { store, lease } = first;
  const before = await everything();

  expect(await store.renew(lease, 30)).toBe("lost");
  await expect(store.claim(lease, 1)).rejects.toBeInstanceOf(LeaseLost);
  await expect(store.markSent(lease, "batch", [id])).rejects.toBeInstanceOf(LeaseLost);
  await expect(store.apply(lease, page([image(1, 1, { lastname: "stale" })]))).rejects.toBeInstanceOf(LeaseLost);
  await expect(store.recover(lease)).rejects.toBeInstanceOf(LeaseLost);
  await expect(store.settle(lease, [{ kind: "settled", changeIds: [id], recordId: 1 }])).rejects.toBeInstanceOf(
    LeaseLost,
  );
  await store.release(lease, [id]);
  const marks = { position: new Date(1000), slow: new Date(1000), deleted: new Date(1000) };
  await expect(store.finish(lease, { ...END, marks, pulledAt: new Date(1000), error: "stale" })).rejects.toBeInstanceOf(
    LeaseLost,
  );
  expect(await everything()).toEqual(before);
  expect(await (await customer.store()).begin(request()), "the successor still has it").toEqual({
    held: false,
    why: "running",
  });
});

describe("a cycle that is frozen between its mark and the check of the clock", () => {
  /** Marks a change, freezes for so long, and asks to save; `meanwhile` happens while it is frozen. */
  async function frozen(seconds: number, meanwhile: () => Promise<unknown>) {
    await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");
    const { store, lease } = await customer.cycle();
    const [change] = await store.claim(lease, 1);
    const clock = new ModelClock();
    const hold = guardLease(store, lease, clock, clock.now() + 900_000);
    const saving = hold.maySave(async (leaseSeconds) => {
      const answer = await store.markSent(lease, "batch", [Number(change?.id)], leaseSeconds);
      clock.pass(seconds);
      await meanwhile();
      return answer;
    });
    return { saving, lease };
  }
  const runsOut = (interval: string) =>
    customer.sql(`UPDATE salesforce._bridge_state SET lease_until = now() + interval '${interval}'`);

  test("saves nothing when another has the lease by then, and takes nothing from it", async () => {
    const { saving, lease } = await frozen(49, async () => {
      await runsOut("0 s");
      await customer.cycle();
    });

    await expect(saving).rejects.toMatchObject({ name: "CycleStopped", reason: "lost" });
    const store = await customer.store();
    expect(await store.renew(lease, 30)).toBe("lost");
    expect(await store.begin(request())).toEqual({ held: false, why: "running" });
  });

  test("renews the lease again before it saves, when no other cycle has it", async () => {
    const { saving } = await frozen(20, () => runsOut("10 s"));

    await saving;

    expect(
      await customer.sql("SELECT lease_until > now() + interval '20 s' AS renewed FROM salesforce._bridge_state"),
    ).toEqual([{ renewed: true }]);
  });
});

/** Every row of the table, and of what is kept of it. */
async function everything(): Promise<unknown> {
  const tables = ["contact", "_trigger_log", "_bridge_state", "_bridge_loads", "_bridge_totals", "_bridge_in_hand"];
  const more = [
    "_bridge_outbox",
    "_bridge_pushed",
    "_bridge_tombstones",
    "_bridge_inbound_errors",
    "_bridge_conflicts",
  ];
  return Promise.all(
    [...tables, ...more].map((table) => customer.sql(`SELECT * FROM salesforce.${table} t ORDER BY t::text`)),
  );
}

test.each(["cycle", "load"] as const)(
  "what a %s of before a restore does is refused, also while a later one has the same fence",
  async (work) => {
    const store = await customer.store();
    const before = await store.begin(request({ work, owner: "before" }));
    const table = work === "cycle" ? "_bridge_state" : "_bridge_loads";
    await customer.sql(`UPDATE salesforce.${table} SET fence = fence - 1, lease_owner = 'earlier', lease_until = NULL`);
    const after = await store.begin(request({ work, owner: "after" }));
    if (!before.held || !after.held) throw new Error("the lease was free");

    expect(after.lease.fence).toBe(before.lease.fence);
    expect(await store.renew(before.lease, 30)).toBe("lost");
    const stale = page([image(1, 1, { lastname: "stale" })]);
    await expect(store.apply(before.lease, stale)).rejects.toBeInstanceOf(LeaseLost);
    await expect(store.finish(before.lease, END)).rejects.toBeInstanceOf(LeaseLost);
    expect(await store.renew(after.lease, 30)).toBe("held");
  },
);

test("a lease that is renewed outlives its first time", async () => {
  const { store, lease } = await customer.cycle({ leaseSeconds: 0 });

  const renewed = await store.renew(lease, 30);

  expect(renewed).toBe("held");
  expect(await store.begin(request())).toEqual({ held: false, why: "running" });
});

test("a change of configuration ends the running cycle, whose results still count", async () => {
  await customer.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Curie')");
  const { store, lease } = await customer.cycle();
  const [change] = await store.claim(lease, 1);
  await store.markSent(lease, "batch", [Number(change?.id)]);

  await customer.provision({ configVersion: 2, columns: [...customer.shape.columns, column("Phone")] });
  await store.settle(lease, [
    { kind: "refused", changeIds: [Number(change?.id)], recordId: 1, action: "INSERT", error: "X: no" },
  ]);

  expect(await store.renew(lease, 30)).toBe("lost");
  await expect(store.apply(lease, page([image(2, 1, { lastname: "x" })]))).rejects.toBeInstanceOf(LeaseLost);
  expect(await customer.sql("SELECT lastname FROM salesforce.contact")).toEqual([{ lastname: "Curie" }]);
  await expect(store.finish(lease, { ...END, apiCalls: { SOAP: 1 } })).rejects.toBeInstanceOf(LeaseLost);
  expect(await customer.sql("SELECT api_calls, last_run_at FROM salesforce._bridge_state")).toEqual([
    { api_calls: { SOAP: 1 }, last_run_at: null },
  ]);
  expect(await store.begin(request())).toEqual({ held: false, why: "config behind" });
  expect(await store.begin(request({ configVersion: 2 }))).toMatchObject({ held: true });
  expect(await customer.sql("SELECT state FROM salesforce._trigger_log")).toEqual([{ state: "FAILED" }]);
});

test("an unknown mapping, one whose tables are of an earlier version, or an empty database, is reported as not provisioned", async () => {
  const store = await customer.store();
  const behind = await store.begin(request({ configVersion: 2 }));
  const unknown = await store.begin(request({ mappingId: "map_other" }));
  await customer.sql("DROP SCHEMA salesforce CASCADE");
  const empty = await store.begin(request());

  expect([behind, unknown, empty]).toEqual([
    { held: false, why: "not provisioned" },
    { held: false, why: "not provisioned" },
    { held: false, why: "not provisioned" },
  ]);
  expect(await store.pulses(["map_contact"])).toEqual([]);
});

test("a cycle without work makes three round trips: it begins, ends, and counts what waits", async () => {
  let statements = 0;
  const { store, lease } = await customer.cycle({
    before: async () => {
      statements++;
    },
  });

  await store.finish(lease, END);

  expect(statements).toBe(3);
});
