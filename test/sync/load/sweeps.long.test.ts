import { expect, test } from "vitest";
import { hash } from "../../../lib/model/beat.ts";
import type { BridgeCloud } from "../../support/worlds/bridge-cloud.ts";
import type { SyncWorld } from "../../support/worlds/sync-world.ts";
import { aWorldForEachTest, mapped } from "../../support/worlds/worlds.ts";

/** More than a sweep reads again by id. */
const MANY = 40_200;

let cloud: BridgeCloud;
let world: SyncWorld;
aWorldForEachTest(
  (made) => {
    ({ cloud, world } = made);
  },
  {
    definition: {
      objects: [
        {
          name: "Contact",
          fields: [{ name: "Shout__c", type: "formula", formula: "UPPER(Account.Name)", returns: "string" }],
        },
      ],
    },
  },
);

test("a sweep that finds more formulas changed than it reads by id begins again with all fields", {
  timeout: 300_000,
}, async () => {
  const { id } = (await world.rest("POST", "/sobjects/Account", { Name: "Acme" })) as { id: string };
  const contacts = Array.from({ length: MANY }, (_, n) => ({ LastName: `L${n}`, AccountId: id }));
  await world.createRecords("Contact", contacts);
  const contact = await mapped(world, { object: "Contact", fields: ["AccountId", "LastName", "Shout__c"] });
  await world.pass(3600);
  await world.cycle(contact, "pull");
  while ((Math.floor(cloud.clock.now() / 86_400_000) + hash(contact.id)) % 7 === 0) await world.pass(86_400);
  await world.rest("PATCH", `/sobjects/Account/${id}`, { Name: "Umbrella" });
  const calls = await world.calls();

  await world.work(contact, "sweep");

  const shouts = await world.sql("SELECT shout__c, count(*)::int AS rows FROM salesforce.contact GROUP BY 1");
  expect(shouts).toEqual([{ shout__c: "UMBRELLA", rows: MANY }]);
  const { records } = (await world.rest("GET", "/jobs/query")) as { records: { query: string }[] };
  expect(records.map(({ query }) => query.includes("LastName"))).toEqual([true, false, true]);
  expect((await world.calls()) - calls).toBeLessThan(50);
});
