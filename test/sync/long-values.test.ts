import { expect, test } from "vitest";
import type { Mapping } from "../../lib/model/mapping.ts";
import type { BridgeCloud } from "../support/bridge-cloud.ts";
import type { SyncWorld } from "../support/sync-world.ts";
import { aWorldForEachTest, mapped } from "../support/worlds.ts";

let cloud: BridgeCloud;
let world: SyncWorld;
let contact: Mapping;
aWorldForEachTest(async (made) => {
  ({ cloud, world } = made);
  contact = await mapped(world, { object: "Contact", fields: ["Description", "LastName", "Title"] });
  await told();
});

/** The events that were announced since the last look. */
const told = async () => {
  const messages = (await cloud.take("events")) as { workspace_id: string; event_id: string }[];
  const mine = messages.filter(({ workspace_id }) => workspace_id === world.workspaceId);
  return world.events(mine.map(({ event_id }) => event_id));
};
const outbox = async () =>
  (await world.sql("SELECT count(*)::int AS rows FROM salesforce._bridge_outbox"))[0]?.["rows"];

test("a refusal of 600,000 characters is kept cut on the row, in the log and in the event, and the next event follows", async () => {
  await world.fault({ kind: "validation", record: "Curie", message: "x".repeat(600_000) });
  await world.fault({ kind: "validation", record: "Noether", message: "must be a grown-up" });
  await world.sql("INSERT INTO salesforce.contact (lastname) VALUES ('Curie'), ('Noether')");

  await world.cycle(contact);

  const cut = expect.stringMatching(
    /^FIELD_CUSTOM_VALIDATION_EXCEPTION: x{4061}… \(truncated, 600,035 characters\) …x{200}$/,
  );
  expect(await world.sql("SELECT _ab_lastop, _ab_err FROM salesforce.contact ORDER BY id")).toEqual([
    { _ab_lastop: "FAILED", _ab_err: cut },
    { _ab_lastop: "FAILED", _ab_err: "FIELD_CUSTOM_VALIDATION_EXCEPTION: must be a grown-up" },
  ]);
  expect((await told()).map(({ event, detail }) => [event, detail["error"]])).toEqual([
    ["record.failed", cut],
    ["record.failed", "FIELD_CUSTOM_VALIDATION_EXCEPTION: must be a grown-up"],
  ]);
  expect(await outbox()).toBe(0);
});
