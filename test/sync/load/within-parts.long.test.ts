import { beforeEach, expect, test } from "vitest";
import { eachInAWorld, numbered, UNCOUNTED, WIDE, WIDE_CONTACT, world } from "../world.ts";

/** Records of a quarter of a megabyte: a page of a Bulk job's results, 4 MB, holds some sixteen of them. */
const MANY = 40;
const SAGA = "n".repeat(131_000);

eachInAWorld(undefined, WIDE_CONTACT);
beforeEach(async () => {
  await world.pass(1);
  for (const prefix of ["L", "M"])
    await world.createRecords("Contact", numbered(MANY / 2, prefix, { Story__c: SAGA, Saga__c: SAGA }));
  await world.fault(UNCOUNTED);
});

const map = () => world.mapContact(["LastName", ...WIDE]);
const readSoFar = async () => ((await world.checkpoint()) as { readonly read?: number } | null)?.read ?? null;
/** Continues, in another invocation, what the first load has left. */
async function goOn() {
  world.interfere(null);
  await world.work(await world.mappingOf(), "load");
}

/** From now on a process dies before its nth call of this name. */
function dieBefore(nth: number, name: string, seen: string[] = []): void {
  let calls = 0;
  world.interfere((call) => {
    if (call === name || call === "org.bulkResults") seen.push(call);
    if (call === name && ++calls >= nth) throw new Error("killed");
  });
}

test.each(["load", "backfill", "sweep"] as const)(
  "a %s of which each invocation takes a single page comes to its end",
  async (kind) => {
    let work: () => Promise<unknown> = map;
    if (kind !== "load") {
      await map();
      await world.writeUncaptured("DELETE FROM salesforce.contact WHERE lastname = 'M19'");
      work = () => world.work(world.contact, kind);
    }
    const reached: (number | null)[] = [];
    while (reached.length < 12 && reached.at(-1) !== null) {
      if (kind === "sweep") dieBefore(2, "store.compareRows");
      else dieBefore(kind === "backfill" ? 5 : reached.length === 0 ? 4 : 3, "store.apply");
      await work().catch(() => undefined);
      reached.push(await readSoFar());
      const contact = await world.mappingOf();
      work = () => world.work(contact, "load");
    }
    world.interfere(null);

    expect(reached.length).toBeGreaterThan(kind === "load" ? 3 : 1);
    expect(reached.at(-1)).toBeNull();
    const read = reached.slice(0, -1).map(Number);
    expect(read).toEqual([...new Set(read)].toSorted((a, b) => a - b));
    expect(await world.names()).toHaveLength(MANY);
  },
);

test("parts are read side by side, and none is written again as far as it was written", async () => {
  await world.fault({ kind: "smallBatches", path: "/results", size: 20, times: 0 });
  const calls: string[] = [];
  dieBefore(6, "store.apply", calls);
  await expect(map()).rejects.toThrow("killed");
  const before = await readSoFar();

  await goOn();

  expect(calls.join()).toContain("org.bulkResults,org.bulkResults");
  expect(before).toBeGreaterThan(0);
  expect(world.lastLine("load")).toMatchObject({ outcome: "done", read: MANY - Number(before) });
  expect(await world.names()).toHaveLength(MANY);
});

test("results in another order than before are not continued: another job begins", async () => {
  dieBefore(4, "store.apply");
  await expect(map()).rejects.toThrow("killed");
  const other = `jsonb_set(load::jsonb, '{bulk,written,0,lastId}', '"003000000000000AAA"')`;
  await world.sql(`UPDATE salesforce._bridge_loads SET load = ${other}`);

  await goOn();

  expect(world.lastLine("load")?.["notes"]).toEqual([
    expect.stringMatching(
      /^Bulk query job \w+ gives its results in another order than before; started over as job \w+$/,
    ),
  ]);
  expect(await world.names()).toHaveLength(MANY);
});
