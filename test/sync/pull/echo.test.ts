import { describe, expect, test } from "vitest";
import { firstInGate } from "../../support/run/whole-grid.ts";
import type { Row } from "../../support/worlds/sync-world.ts";
import { eachInAWorld, world } from "../world.ts";

/** What a push has saved comes back with the next pull. For a minute it is asked for again by ids and stamps alone. */

eachInAWorld();

const OVERLAP_SECONDS = 60;

/** A mapping whose rows, one for each name, were pulled more than a minute ago. */
async function following(names: readonly string[], bridge: Row = {}): Promise<void> {
  await world.createRecords(
    "Contact",
    names.map((LastName) => ({ LastName, Title: "Ms" })),
  );
  await world.mapContact(["LastName", "Title"], { bridge });
  await world.pass(2 * OVERLAP_SECONDS);
  await world.cycles();
}

/** So many polls, ten seconds apart: the records that each has read with their fields, and its calls. */
async function polls(count: number): Promise<{ read: number[]; calls: number[] }> {
  const [read, calls]: [number[], number[]] = [[], []];
  for (let poll = 0; poll < count; poll += 1) {
    await world.pass(9);
    const [before, lines] = [await world.calls(), world.log.length];
    await world.cycles();
    calls.push((await world.calls()) - before);
    // A cycle that has met nothing leaves no line.
    read.push(Number(world.log.slice(lines).find(({ event }) => event === "cycle")?.["read"] ?? 0));
  }
  return { read, calls };
}

const titles = async () =>
  Object.fromEntries(
    (await world.bothSides(["LastName", "Title"])).rows.map(({ LastName, Title }) => [LastName, Title]),
  );

/** A save that is committed 25 seconds after it began, with the stamp of its beginning: two polls miss it, and the next comes. */
async function savedLate(by: "colleague" | "rest", method: string, name: string, body?: Row): Promise<void> {
  const [id, before] = [await world.idOf(name), await titles()];
  await world.fault({ kind: "heldCommit", object: "Contact", milliseconds: 25_000, times: 1 });
  const saved = world[by](method, `/sobjects/Contact/${id}`, body);
  await world.heldUp();
  await polls(2);
  expect(await titles()).toEqual(before);
  await world.pass(10);
  await saved;
  await world.cycles();
}

test("what was pushed is read with its fields once, and each poll of the minute after it is one call", async () => {
  await following(["Ada", "Grace", "Mary"]);
  await world.sql("UPDATE salesforce.contact SET title = 'Dr'");
  await world.cycles();

  expect(await polls(8)).toEqual({ read: [3, 0, 0, 0, 0, 0, 0, 0], calls: [1, 1, 1, 1, 1, 1, 1, 1] });
});

test("changes of colleagues cost no call beyond the poll, and do not bring the echo back", async () => {
  await following(["Ada", "Grace"]);
  await world.sql("UPDATE salesforce.contact SET title = 'Dr' WHERE lastname = 'Ada'");
  await world.cycles();
  await polls(1);

  await world.patch("Grace", { Title: "Prof" }, "colleague");

  // What others have saved is read with its fields for a minute.
  expect(await polls(3)).toEqual({ read: [1, 1, 1], calls: [1, 1, 1] });
  expect(await titles()).toEqual({ Ada: "Dr", Grace: "Prof" });
});

describe("what is committed after the pull has passed its stamp arrives with the next poll", () => {
  test.each(
    firstInGate(2, [
      { by: "colleague", what: "of the second of our save, with our stamp", name: "Ada" },
      { by: "colleague", what: "of another record", name: "Grace" },
      { by: "rest", what: "of our own user, of another record", name: "Grace" },
    ] as const),
  )("a save $what ($by)", async ({ by, name }) => {
    await following(["Ada", "Grace"]);
    await world.sql("UPDATE salesforce.contact SET title = 'Dr' WHERE lastname = 'Ada'");
    await world.cycles();
    await savedLate(by, "PATCH", name, { Title: "Prof" });

    expect((await titles())[name]).toBe("Prof");
  });

  test("a save of our own user behind 2,000 echoes, which are a page, before the position passes it", async () => {
    await following([...Array.from({ length: 2_050 }, (_, n) => `Row ${n}`), "Grace"]);
    await world.sql("UPDATE salesforce.contact SET title = 'Dr' WHERE lastname <> 'Grace'");
    await world.cycles();
    await savedLate("rest", "PATCH", "Grace", { Title: "Prof" });
    await polls(5);

    expect((await titles())["Grace"]).toBe("Prof");
  });

  test.each(["colleague", "rest"] as const)("a deletion (%s)", async (by) => {
    await following(["Ada", "Grace"]);
    await savedLate(by, "DELETE", "Grace");

    expect(Object.keys(await titles())).toEqual(["Ada"]);
  });

  test("of our own user, into the filter of the mapping", async () => {
    await following(["Ada", "Grace"], { filter: "Title = 'Ms' OR Title = 'Dr'" });
    await world.patch("Grace", { Title: "Mrs" });
    await polls(8);
    expect(Object.keys(await titles())).toEqual(["Ada"]);
    await savedLate("rest", "PATCH", "Grace", { Title: "Dr" });

    expect(await titles()).toEqual({ Ada: "Ms", Grace: "Dr" });
  });
});

describe("all of the last minute is read with its fields", () => {
  test.each(
    firstInGate(1, [
      ["after a pull that did not come to its end", `lanes = '{"pages": 1}'`],
      ["until the org's clock is again where it was", `lanes = '{"back": {"stamp": "2099-01-01T00:00:00Z"}}'`],
      ["of an object that does not say who saved its records", "shape = shape - 'namesWriter'"],
      ["of a table whose rows are not sent", `shape = shape || '{"direction": "sf_to_pg"}'`],
    ] as const),
  )("%s", async (_, state) => {
    await following(["Ada", "Grace"]);
    await world.sql("UPDATE salesforce.contact SET title = 'Dr'");
    await world.cycles();
    await polls(1);

    await world.sql(`UPDATE salesforce._bridge_state SET ${state}`);

    expect((await polls(1)).read).toEqual([2]);
  });
});
