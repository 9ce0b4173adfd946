import { expect, test } from "vitest";
import { handler as readHealth } from "../../../functions/api/read-health.ts";
import { handler as testSalesforce } from "../../../functions/api/test-salesforce.ts";
import { now } from "../../../functions/services/composition.ts";
import { firstInGate } from "../../support/run/whole-grid.ts";
import { eachInAWorld, numbered, world } from "../world.ts";

eachInAWorld(async () => {
  await world.mapContact(["LastName"]);
  await world.cycles();
});

interface Health {
  readonly sync: { readonly status: string };
  readonly incidents?: readonly { readonly message: string; readonly commands: readonly string[] }[];
}

const sync = async () => {
  const { sync, incidents = [] } = await world.ask<Health>(readHealth, "read-health", {
    query: { incidents: "true" },
  });
  return { status: sync.status, incidents };
};

/** How each standstill comes about, and what health says of it, with the commands that help. */
const STALLS: [string, () => Promise<unknown>, unknown, ...(readonly string[])][] = [
  ["no cycle begins", () => world.pass(181), expect.stringMatching(/^Contact: no cycle has begun for 12\d s$/)],
  [
    "a table's configuration is another one's",
    async () => {
      await world.pass(61);
      await world.cycles();
      await world.sql("UPDATE salesforce._bridge_state SET config_version = config_version + 1");
    },
    expect.stringContaining("of the configuration"),
    "bridge mapping deactivate Contact",
    "bridge mapping activate Contact",
  ],
  [
    "records cannot become rows",
    async () => {
      await world.sql("ALTER TABLE salesforce.contact ADD CONSTRAINT short CHECK (length(lastname) < 4)");
      await world.createRecords("Contact", numbered(5));
      await world.cycles();
    },
    "Contact: 5 records cannot become rows, beside 0 rows",
  ],
  [
    "a lost cycle has claimed changes",
    async () => {
      await world.insert("Curie");
      const past = new Date(now().getTime() - 121_000).toISOString();
      await world.sql(`UPDATE salesforce._trigger_log SET state = 'PENDING', updated_at = '${past}';
        INSERT INTO salesforce._bridge_in_hand (id, table_name, ids) SELECT 'lost', 'contact', array_agg(id) FROM salesforce._trigger_log`);
    },
    expect.stringMatching(/^Contact: changes are PENDING for 12\d s/),
  ],
];

test.each(firstInGate(2, STALLS))(
  "health is running while all moves, and says what it is and what helps when %s",
  async (_, stop, message, ...commands) => {
    expect(await sync()).toEqual({ status: "running", incidents: [] });

    await stop();

    expect(await sync()).toMatchObject({
      status: "degraded",
      incidents: [{ message, ...(commands.length > 0 && { commands }) }],
    });
  },
);

const findings = async () =>
  (
    await world.ask<{ findings: { check: string; ok: boolean; message: string; remedy: string }[] }>(
      testSalesforce,
      "test-salesforce",
    )
  ).findings;

test("that records can be saved is asked of the org by an update of no record, and an org whose calls are used up need not be connected again", async () => {
  const saving = (await findings()).filter(({ check }) => check === "saving").map(({ ok, message }) => [ok, message]);
  expect(saving).toEqual([[true, "Contact can be saved: the user may, and Salesforce is ready"]]);
  expect(await world.namesThere()).toEqual([]);

  await world.control("PUT", "/calls", { used: 15_000 });

  expect(await findings()).toEqual([
    expect.objectContaining({
      ok: false,
      remedy: expect.stringContaining("wait until calls of the last 24 hours expire"),
    }),
  ]);
});
