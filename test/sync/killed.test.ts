import { expect, test } from "vitest";
import { killBefore } from "../support/doubles/interference.ts";
import { firstInGate, isWholeGrid } from "../support/run/whole-grid.ts";
import { eachInAWorld, world } from "./world.ts";

eachInAWorld();

/** More calls than a cycle of this size makes. */
const MORE_THAN_ENOUGH = 60;

/** The gate kills one kind of mapping, at every fourth step. */
const EVERY = isWholeGrid ? 1 : 4;

test.each(
  firstInGate(1, [
    ["with an upsert field", { upsertField: "External_Id__c" }],
    ["without an upsert field", {}],
  ]),
)(
  "a cycle of a mapping %s can be killed between any two of its steps, and nothing is lost and nothing doubled",
  async (_, upsert) => {
    await world.mapContact(["Email", "External_Id__c", "LastName"], upsert);
    let kills = 0;
    for (let nth = 1; nth < MORE_THAN_ENOUGH; nth += EVERY) {
      await startOver();
      await changeBothSides(nth);

      const { interference, wasReached } = killBefore(nth);
      world.interfere(interference);
      await world.cycles();
      world.interfere(null);
      if (!wasReached()) break;
      kills += 1;
      await settleDown();

      const { rows, records } = await world.bothSides(["LastName"]);
      expect({ nth, rows }).toEqual({ nth, rows: records });
      expect({ nth, names: rows.map(({ LastName }) => LastName) }).toEqual({ nth, names: EXPECTED(nth) });
      const unsettled = (await world.changes("action, state, sf_message")).filter(({ state }) => state !== "SUCCESS");
      expect({ nth, unsettled }).toEqual({ nth, unsettled: [] });
    }
    expect(kills * EVERY).toBeGreaterThan(10);
  },
);

const EXPECTED = (nth: number) => [
  `Changed here ${nth}`,
  `Changed there ${nth}`,
  `New here ${nth}`,
  `New there ${nth}`,
];

/** Three rows that both sides hold. */
async function startOver(): Promise<void> {
  await world.sql("DELETE FROM salesforce.contact");
  await world.sql(
    "INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ('a', 'K-a'), ('b', 'K-b'), ('gone', 'K-gone')",
  );
  await settleDown();
  expect(await world.countRecords()).toBe(3);
}

async function changeBothSides(nth: number): Promise<void> {
  await world.patch("b", { LastName: `Changed there ${nth}` });
  await world.create(`New there ${nth}`, { External_Id__c: `T-${nth}` });
  await world.sql("UPDATE salesforce.contact SET lastname = $1 WHERE lastname = 'a'", [`Changed here ${nth}`]);
  await world.sql("INSERT INTO salesforce.contact (lastname, external_id__c) VALUES ($1, $2)", [
    `New here ${nth}`,
    `H-${nth}`,
  ]);
  await world.sql("DELETE FROM salesforce.contact WHERE lastname = 'gone'");
}

/** As the next minutes would: the dead holder's lease runs out, beats continue, what is in doubt becomes known. */
async function settleDown(): Promise<void> {
  await world.sql("UPDATE salesforce._bridge_state SET lease_until = NULL");
  await world.cycles();
  await world.untilKnown();
}
