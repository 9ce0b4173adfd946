import { expect, test } from "vitest";
import { type Signs, stallOf } from "../../lib/model/stall.ts";
import { contactShape, mappingOf } from "../support/worlds/shapes.ts";

const NOW = new Date("2026-11-20T12:00:00Z");
const ago = (seconds: number) => NOW.getTime() - seconds * 1000;
const mapping = {
  ...mappingOf(contactShape()),
  configVersion: 3,
  provisioning: { state: "ready", version: 3 } as const,
  updatedAt: new Date(ago(3600)),
};
const WELL: Signs = {
  ...{ id: "map_1", rows: 1000, inboundErrors: 0, version: 3 },
  ...{ isRunning: false, lastCycleAt: ago(5), unsentSince: null, rewound: 0 },
};

test.each<[string, Partial<Signs>, RegExp | null]>([
  ["it is idle", {}, null],
  ["four records of four are refused", { rows: 0, inboundErrors: 4 }, null],
  ["five of five are", { rows: 0, inboundErrors: 5 }, /5 records cannot become rows, beside 0 rows/],
  ["nine of a hundred are", { rows: 91, inboundErrors: 9 }, null],
  ["ten of a hundred are", { rows: 90, inboundErrors: 10 }, /10 records cannot become rows/],
  ["a cycle was noted three minutes ago, and one may have run until two", { lastCycleAt: ago(180) }, null],
  ["none has begun since", { lastCycleAt: ago(181) }, /no cycle has begun for 121 s/],
  ["the last one still runs", { lastCycleAt: ago(900), isRunning: true }, null],
  ["none has ever ended", { lastCycleAt: null }, /no cycle has begun for 3540 s/],
  ["a claimed change was left", { unsentSince: ago(121) }, /changes are PENDING for 121 s/],
  ["the table is of a later version", { version: 4 }, /version 4 of the configuration, and the mapping 3/],
  ["the table is of an earlier one", { version: 2 }, /version 2 of the configuration, and the mapping 3/],
])("where %s, that is what is said", (_, signs, said) => {
  const stall = stallOf(mapping, { ...WELL, ...signs }, NOW);

  const commands = expect.arrayContaining([expect.stringMatching(/^bridge /)]);
  if (said === null) expect(stall).toBeNull();
  else expect(stall).toEqual({ message: expect.stringMatching(said), remedy: expect.stringMatching(/\w/), commands });
});

test.each([
  ["was changed within a minute", { updatedAt: new Date(ago(59)) }],
  ["waits for its table", { configVersion: 4 }],
  ["has a table that failed", { provisioning: { state: "failed", reason: "x" } as never }],
])("another version says nothing of a mapping that %s", (_, more) => {
  expect(stallOf({ ...mapping, ...more }, { ...WELL, version: 2 }, NOW)).toBeNull();
});
