import { expect, test, vi } from "vitest";
import { FEWEST } from "../../support/doubles/small-jobs.ts";
import { firstInGate } from "../../support/run/whole-grid.ts";
import { endJobsBeforeLooks } from "../../support/worlds/bulk-jobs.ts";
import { eachInAWorld, numbered, world } from "../world.ts";

/** A trigger of the customer's that refuses every write of some rows, also that of their results. */

vi.mock(import("../../../lib/model/change/ways.ts"), async (original) =>
  (await import("../../support/doubles/small-jobs.ts")).smallJobs(original),
);

eachInAWorld(() => world.mapContact(["Email", "LastName"]));

const lastCycle = () => world.lastLine("cycle");

test.each(
  firstInGate(1, [
    ["the most rows that go by SOAP", FEWEST - 1],
    ["some more, by the Bulk API", FEWEST + 200],
  ] as const),
)("a row that refuses its result holds up none of %s, and later changes of its own go their way", async (_, count) => {
  await world.createRecords("Contact", numbered(count, "L"));
  await world.cycles();
  await world.sql("UPDATE salesforce.contact SET email = 'new@example.com'");
  await world.sql(`
    CREATE FUNCTION public.close() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '% is closed', NEW.lastname; END $$;
    CREATE TRIGGER close BEFORE UPDATE ON salesforce.contact FOR EACH ROW
      WHEN (NEW._ab_lastop = 'UPDATED' AND NEW.lastname IN ('L7', 'L219')) EXECUTE FUNCTION public.close()`);
  endJobsBeforeLooks(world);

  await world.cycles();

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
  await world.cycles();
  expect(await world.soql("SELECT LastName FROM Contact WHERE Email = 'newer@example.com'")).toMatchObject([
    { LastName: "L7" },
  ]);
});
