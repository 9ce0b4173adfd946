import { afterEach, expect, test } from "vitest";
import { allInOneWorld, longTexts, numbered, world } from "../world.ts";

/** Pages of the mapping hold fifty records, for its six long texts may be long. */
const PAGE = 50;
const LONG = Array.from({ length: 6 }, (_, at) => `Story${at}__c`);

allInOneWorld(
  () => {
    const parents = ["Account.External_Id__c", "Account.Key__c", "AccountId"];
    return world.mapContact([...parents, "Department", "Email", "LastName", "Title", ...LONG]);
  },
  {
    definition: {
      objects: [
        { name: "Account", fields: [{ name: "Key__c", type: "text", length: 40, externalId: true, unique: true }] },
        { name: "Contact", fields: longTexts(LONG) },
      ],
    },
  },
);
afterEach(async () => {
  world.interfere(null);
  await world.control("DELETE", "/faults");
  await world.sql("UPDATE salesforce._bridge_state SET lanes = NULL");
});

let made = 0;
/** So many contacts of one stamp, by another user. */
async function create(count: number, values: object = {}): Promise<string> {
  made += 1;
  const department = `D${made}`;
  await world.createRecords("Contact", numbered(count, "Contact ", { Department: department, ...values }));
  return department;
}

const arrived = async (department: string) =>
  (await world.sql("SELECT count(*)::int AS n FROM salesforce.contact WHERE department = $1", [department]))[0]?.["n"];
const state = async () => (await world.sql("SELECT position, lanes FROM salesforce._bridge_state"))[0] ?? {};

const shown = async () => (await world.shown())[0];

/** A query alone, or one with the stamps of our own saves beside it. */
const isQuery = (call: string) => call === "org.query" || call === "org.queryTogether";

/** A cycle that is killed before its `nth` query. */
async function killedAtQuery(nth: number): Promise<void> {
  let queries = 0;
  world.interfere((call) => {
    if (isQuery(call) && ++queries >= nth) throw new Error("killed");
  });
  await world.cycles();
  world.interfere(null);
}

test("many records of one second arrive although no cycle reads more than one page of them", async () => {
  const department = await create(3 * PAGE + 10);
  await world.pass(120);

  for (let cycles = 1; cycles <= 3; cycles += 1) {
    await killedAtQuery(2);
    expect(await arrived(department)).toBe(cycles * PAGE);
  }
  await world.cycles();

  expect(await arrived(department)).toBe(3 * PAGE + 10);
});

test("a late lane that no cycle comes through continues where it ended, and finds what was committed late", async () => {
  const size = { rows: 6, fields: 0, since: world.cloud.clock.now() }; // pages of 31 stamps
  await world.sql("UPDATE salesforce._bridge_state SET lanes = $1", [JSON.stringify({ size })]);
  await world.fault({ kind: "heldCommit", object: "Contact", milliseconds: 200_000, times: 1 });
  const held = create(1);
  await world.heldUp();
  const department = await create(3 * 31);
  await world.pass(100);
  await world.cycles();
  await world.pass(101);
  const late = await held;
  await world.pass(300);
  await world.control("DELETE", "/requests");

  // Its fast lane has one page; the late lane has a page each time.
  for (let cycles = 1; cycles <= 3; cycles += 1) await killedAtQuery(3);
  const { lanes } = (await state()) as { lanes: { late: { afterId: string } | null } };
  await world.cycles();

  expect(lanes.late).toMatchObject({ afterId: expect.stringMatching(/^003/) });
  expect(await arrived(department)).toBe(93);
  expect(await arrived(late)).toBe(1);
  expect(((await state())["lanes"] as { late: unknown }).late).toBeNull();
});

test("a read that takes the org too long is asked for in halves, the next cycle begins with the small one, and it grows again", async () => {
  await world.pass(3_600);
  await world.cycles();
  await world.fault({ kind: "queryTimeout", object: "Contact", size: 20, times: 0 });
  const department = await create(45);
  await world.pass(70);
  let limits: string[] = [];
  world.interfere((call, asked) => {
    if (!isQuery(call)) return;
    limits.push(...[asked].flat().flatMap((soql) => /Department.* LIMIT (\d+)$/.exec(String(soql))?.[1] ?? []));
  });

  await world.cycles();
  expect(await arrived(department)).toBe(45);
  expect(limits.slice(0, 3)).toEqual(["50", "25", "12"]);

  limits = [];
  await world.cycles();
  expect(limits[0]).toBe("12");
  expect((await shown())?.notices).toMatchObject([{ message: expect.stringContaining("a 4th of a page's records") }]);

  await world.control("DELETE", "/faults");
  for (let quarters = 0; quarters < 2; quarters += 1) {
    await world.pass(15 * 60);
    limits = [];
    await world.cycles();
  }
  expect(limits[0]).toBe("50");
  expect((await shown())?.notices).toEqual([]);
});

test("a backlog of more than 25 pages goes to the Bulk API, and what changes meanwhile does not wait for it", async () => {
  const known = await create(2, { Title: "As it was" });
  await world.pass(3_600);
  await world.cycles();
  await world.cloud.take("loads");
  const [gone, edited] = await world.sql("SELECT id::int, sfid FROM salesforce.contact WHERE department = $1", [known]);
  const department = await create(27 * PAGE);
  await world.pass(1);
  await world.colleague("PATCH", `/sobjects/Contact/${edited?.["sfid"]}`, { Title: "Edited last of all" });
  await world.pass(1);
  await world.rest("DELETE", `/sobjects/Contact/${gone?.["sfid"]}`);
  await world.pass(120);

  await world.cycles();
  const [{ load } = {}] = await world.sql("SELECT load FROM salesforce._bridge_loads");
  expect(load).toMatchObject({ kind: "backlog", since: expect.any(String), bulk: { jobId: expect.any(String) } });
  expect(await arrived(department)).toBe(25 * PAGE);
  expect((await shown())?.notices).toMatchObject([
    { message: expect.stringContaining("the Bulk API brings it, 0 of") },
  ]);
  const messages = (await world.cloud.take("loads")) as { readonly mapping_id: string; readonly kind: string }[];
  expect(messages).toContainEqual(expect.objectContaining({ mapping_id: world.contact.id, kind: "load" }));
  const meanwhile = await create(1);
  await world.cycles();
  expect(await arrived(meanwhile)).toBe(1);

  await world.work(world.contact, "load");

  expect(await arrived(department)).toBe(27 * PAGE);
  expect(await world.sql("SELECT FROM salesforce.contact WHERE sfid = $1", [gone?.["sfid"]])).toEqual([]);
  expect(await world.sql("SELECT load FROM salesforce._bridge_loads")).toEqual([{ load: null }]);
  expect(await world.sql("SELECT FROM salesforce._trigger_log")).toEqual([]);
  // What the job brought to a row that was there is kept with its old value, as what a cycle brings is.
  expect(
    await world.sql("SELECT fields -> 'title' AS title FROM salesforce._bridge_history WHERE record_id = $1", [
      edited?.["id"],
    ]),
  ).toEqual([{ title: ["As it was", "Edited last of all"] }]);
});
