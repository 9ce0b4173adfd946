import { beforeEach, expect, test } from "vitest";
import { firstInGate, longTest } from "../../support/run/whole-grid.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";
import { idOf, numbered, UNCOUNTED, WIDE, WIDE_CONTACT, writeUncaptured } from "../world.ts";

/** Records of a quarter of a megabyte: a page of a Bulk job's results, 4 MB, holds some sixteen of them. */
const MANY = 40;
const SAGA = "n".repeat(131_000);

let world: SyncWorld;
aWorldForEachTest((made) => {
  ({ world } = made);
}, WIDE_CONTACT);
beforeEach(async () => {
  await world.pass(1);
  for (const prefix of ["L", "M"])
    await world.createRecords("Contact", numbered(MANY / 2, prefix, { Story__c: SAGA, Saga__c: SAGA }));
  await world.fault(UNCOUNTED);
});

const mapContact = () => mapped(world, { object: "Contact", fields: ["LastName", ...WIDE] });
const rows = async () => (await world.sql("SELECT count(*)::int AS n FROM salesforce.contact"))[0]?.["n"];
const readSoFar = async () => {
  const [{ load } = {}] = await world.sql("SELECT load FROM salesforce._bridge_loads");
  return (load as { readonly read?: number } | null)?.read ?? null;
};
const lastLine = () => world.log.findLast(({ event }) => event === "load") ?? {};
/** Continues, in another invocation, what the first load has left. */
async function goOn() {
  const [contact] = await world.mappings();
  if (!contact) throw new Error("the mapping is gone");
  world.interfere(null);
  await world.work(contact, "load");
}

/** From now on a process dies before its nth call of this name. */
function dieBefore(nth: number, name: string, seen: string[] = []): void {
  let calls = 0;
  world.interfere((call) => {
    if (call === name || call === "org.bulkResults") seen.push(call);
    if (call === name && ++calls >= nth) throw new Error("killed");
  });
}

test.each(firstInGate(1, ["load", "backfill", "sweep"] as const))(
  "a %s of which each invocation takes a single page comes to its end",
  async (kind) => {
    let work: () => Promise<unknown> = mapContact;
    if (kind !== "load") {
      const contact = await mapContact();
      const id = await idOf(world, "M19");
      await writeUncaptured(world, `DELETE FROM salesforce.contact WHERE sfid = '${id}'`);
      work = () => world.work(contact, kind);
    }
    const reached: (number | null)[] = [];
    while (reached.length < 12 && reached.at(-1) !== null) {
      if (kind === "sweep") dieBefore(2, "store.compareRows");
      else dieBefore(kind === "backfill" ? 5 : reached.length === 0 ? 4 : 3, "store.apply");
      await work().catch(() => undefined);
      reached.push(await readSoFar());
      const [contact] = await world.mappings();
      work = async () => contact && world.work(contact, "load");
    }
    world.interfere(null);

    expect(reached.length).toBeGreaterThan(kind === "load" ? 3 : 1);
    expect(reached.at(-1)).toBeNull();
    const read = reached.slice(0, -1).map(Number);
    expect(read).toEqual([...new Set(read)].toSorted((a, b) => a - b));
    expect(await rows()).toBe(MANY);
  },
);

test("parts are read side by side, and none is written again as far as it was written", async () => {
  await world.fault({ kind: "smallBatches", path: "/results", size: 20, times: 0 });
  const calls: string[] = [];
  dieBefore(6, "store.apply", calls);
  await expect(mapContact()).rejects.toThrow("killed");
  const before = await readSoFar();

  await goOn();

  expect(calls.join()).toContain("org.bulkResults,org.bulkResults");
  expect(before).toBeGreaterThan(0);
  expect(lastLine()).toMatchObject({ outcome: "done", read: MANY - Number(before) });
  expect(await rows()).toBe(MANY);
});

longTest("a part whose connection breaks in its middle is continued from there", async () => {
  await world.fault({ kind: "resetInBody", path: "/results", times: 1 });
  await expect(mapContact()).rejects.toThrow("BROKEN_ANSWER");
  const before = await readSoFar();

  await goOn();

  expect(before).toBeGreaterThan(0);
  expect(lastLine()).toMatchObject({ outcome: "done", read: MANY - Number(before) });
  expect(await rows()).toBe(MANY);
});

longTest("results in another order than before are not continued: another job begins", async () => {
  dieBefore(4, "store.apply");
  await expect(mapContact()).rejects.toThrow("killed");
  const other = `jsonb_set(load::jsonb, '{bulk,written,0,lastId}', '"003000000000000AAA"')`;
  await world.sql(`UPDATE salesforce._bridge_loads SET load = ${other}`);

  await goOn();

  expect(lastLine()["notes"]).toEqual([
    expect.stringMatching(
      /^Bulk query job \w+ gives its results in another order than before; started over as job \w+$/,
    ),
  ]);
  expect(await rows()).toBe(MANY);
});
