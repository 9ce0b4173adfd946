import { expect, test, vi } from "vitest";
import type { Mapping } from "../../../lib/model/mapping/mapping.ts";
import { FEWEST } from "../../support/doubles/small-jobs.ts";
import { firstInGate } from "../../support/run/whole-grid.ts";
import { endJobsBeforeLooks } from "../../support/worlds/bulk-jobs.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";

/** A trigger of the customer's that refuses every write of some rows, also that of their results. */

vi.mock(import("../../../lib/model/change/ways.ts"), async (original) =>
  (await import("../../support/doubles/small-jobs.ts")).smallJobs(original),
);

let world: SyncWorld;
let contact: Mapping;
aWorldForEachTest(async (made) => {
  ({ world } = made);
  contact = await mapped(world, { object: "Contact", fields: ["Email", "LastName"] });
});

const lastCycle = () => world.log.findLast(({ event }) => event === "cycle");

test.each(
  firstInGate(1, [
    ["the most rows that go by SOAP", FEWEST - 1],
    ["some more, by the Bulk API", FEWEST + 200],
  ] as const),
)("a row that refuses its result holds up none of %s, and later changes of its own go their way", async (_, count) => {
  await world.createRecords(
    "Contact",
    Array.from({ length: count }, (_, at) => ({ LastName: `L${at}` })),
  );
  await world.cycle(contact);
  await world.sql("UPDATE salesforce.contact SET email = 'new@example.com'");
  await world.sql(`
    CREATE FUNCTION public.close() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '% is closed', NEW.lastname; END $$;
    CREATE TRIGGER close BEFORE UPDATE ON salesforce.contact FOR EACH ROW
      WHEN (NEW._ab_lastop = 'UPDATED' AND NEW.lastname IN ('L7', 'L219')) EXECUTE FUNCTION public.close()`);
  endJobsBeforeLooks(world);

  await world.cycle(contact);

  expect(lastCycle()).toMatchObject({ level: "info", accepted: count });
  expect(lastCycle()?.["notes"]).toEqual([expect.stringMatching(/^rows refused the results .*: 2 \(SQLSTATE P0001\)/)]);
  expect(JSON.stringify(lastCycle())).not.toContain("is closed");
  expect(
    await world.sql(
      "SELECT state, sf_message IS NULL AS written, count(*)::int FROM salesforce._trigger_log GROUP BY 1, 2 ORDER BY 2",
    ),
  ).toEqual([
    { state: "SUCCESS", written: false, count: 2 },
    { state: "SUCCESS", written: true, count: count - 2 },
  ]);
  expect(await world.sql("SELECT lastname FROM salesforce.contact WHERE _ab_lastop <> 'UPDATED' ORDER BY id")).toEqual([
    { lastname: "L7" },
    { lastname: "L219" },
  ]);

  await world.sql("UPDATE salesforce.contact SET email = 'newer@example.com' WHERE lastname = 'L7'");
  await world.cycle(contact);
  expect(await world.soql("SELECT LastName FROM Contact WHERE Email = 'newer@example.com'")).toMatchObject([
    { LastName: "L7" },
  ]);
});
