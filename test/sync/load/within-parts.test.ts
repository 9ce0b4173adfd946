import { beforeEach, expect, test } from "vitest";
import { longTest } from "../../support/run/whole-grid.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";

/** Records of a quarter of a megabyte: a page of a Bulk job's results, 4 MB, holds some sixteen of them. */
const MANY = 40;
const SAGA = "n".repeat(131_000);
const WIDE = ["Story__c", "Saga__c"];

let world: SyncWorld;
aWorldForEachTest(
  (made) => {
    ({ world } = made);
  },
  {
    definition: {
      objects: [
        { name: "Contact", fields: WIDE.map((name) => ({ name, type: "longTextArea" as const, length: 131_072 })) },
      ],
    },
  },
);
beforeEach(async () => {
  await world.pass(1);
  for (let at = 0; at < MANY; at += 20) {
    const some = Array.from({ length: 20 }, (_, index) => ({
      LastName: `L${at + index}`,
      Story__c: SAGA,
      Saga__c: SAGA,
    }));
    await world.createRecords("Contact", some);
  }
  // Without a count it is read by the Bulk API.
  await world.fault({ kind: "malformedRequest", code: "NOT_FOUND", path: "recordCount", times: 0 });
});

const mapContact = () => mapped(world, { object: "Contact", fields: ["LastName", ...WIDE] });
const rows = async () => (await world.sql("SELECT count(*)::int AS n FROM salesforce.contact"))[0]?.["n"];
const checkpoint = async () => (await world.sql("SELECT load FROM salesforce._bridge_loads"))[0]?.["load"];
const readSoFar = async () => ((await checkpoint()) as { readonly read?: number } | null)?.read ?? null;
const lastLine = () => world.log.findLast(({ event }) => event === "load") ?? {};

/** From now on a process dies before its nth call of this name. */
function dieBefore(nth: number, name: string): void {
  let calls = 0;
  world.interfere((call) => {
    if (call === name && ++calls >= nth) throw new Error("killed");
  });
}

async function theMapping() {
  const [contact] = await world.mappings();
  if (!contact) throw new Error("the mapping is gone");
  return contact;
}

/** Long work whose every invocation dies after a page: what was read at the end of each, null when nothing is left. */
async function pageByPage(first: () => Promise<unknown>, dies: () => void) {
  const reached: (number | null)[] = [];
  for (let work = first; reached.length < 12 && reached.at(-1) !== null; ) {
    dies();
    await work().catch(() => undefined);
    reached.push(await readSoFar());
    const contact = await theMapping();
    work = () => world.work(contact, "load");
  }
  world.interfere(null);
  return reached;
}

test("a load of which each invocation writes a single page comes to its end", async () => {
  const reached = await pageByPage(mapContact, () => dieBefore(world.log.length === 0 ? 4 : 3, "store.apply"));

  expect(reached.length).toBeGreaterThan(3);
  expect(reached.at(-1)).toBeNull();
  expect(reached.slice(0, -1)).toEqual([...new Set(reached.slice(0, -1))].toSorted((a, b) => Number(a) - Number(b)));
  expect(await rows()).toBe(MANY);
});

longTest.each(["backfill", "sweep"] as const)(
  "a %s of which each invocation takes a single page comes to its end",
  async (kind) => {
    const contact = await mapContact();
    const [one] = await world.soql("SELECT Id FROM Contact WHERE LastName = 'L39'");
    await world.sql("ALTER TABLE salesforce.contact DISABLE TRIGGER USER");
    await world.sql(`DELETE FROM salesforce.contact WHERE sfid = '${one?.["Id"]}'`);
    await world.sql("ALTER TABLE salesforce.contact ENABLE TRIGGER USER");

    const page = kind === "sweep" ? "store.compareRows" : "store.apply";
    const reached = await pageByPage(
      () => world.work(contact, kind),
      () => dieBefore(kind === "sweep" ? 2 : 5, page),
    );

    expect(reached.length).toBeGreaterThan(1);
    expect(reached.at(-1)).toBeNull();
    expect(await rows()).toBe(MANY);
  },
);

test("of parts that are read side by side, none is written again as far as it was written", async () => {
  await world.fault({ kind: "smallBatches", path: "/results", size: 20, times: 0 });
  dieBefore(6, "store.apply");
  await expect(mapContact()).rejects.toThrow("killed");
  world.interfere(null);
  const before = await readSoFar();

  await world.work(await theMapping(), "load");

  expect(before).toBeGreaterThan(0);
  expect(lastLine()).toMatchObject({ outcome: "done", read: MANY - Number(before) });
  expect(await rows()).toBe(MANY);
});

longTest("results in another order than before are not continued: another job begins", async () => {
  dieBefore(4, "store.apply");
  await expect(mapContact()).rejects.toThrow("killed");
  world.interfere(null);
  const other = `jsonb_set(load::jsonb, '{bulk,written,0,lastId}', '"003000000000000AAA"')`;
  await world.sql(`UPDATE salesforce._bridge_loads SET load = ${other}`);

  await world.work(await theMapping(), "load");

  expect(lastLine()["notes"]).toEqual([
    expect.stringMatching(
      /^Bulk query job \w+ gives its results in another order than before; started over as job \w+$/,
    ),
  ]);
  expect(await rows()).toBe(MANY);
});

longTest("a part whose connection breaks in its middle is continued from there", async () => {
  await world.fault({ kind: "resetInBody", path: "/results", times: 1 });
  await expect(mapContact()).rejects.toThrow("BROKEN_ANSWER");
  const before = await readSoFar();

  await world.work(await theMapping(), "load");

  expect(before).toBeGreaterThan(0);
  expect(lastLine()).toMatchObject({ outcome: "done", read: MANY - Number(before) });
  expect(await rows()).toBe(MANY);
});
