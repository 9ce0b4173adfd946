import { describe, expect, test } from "vitest";
import { bellOf, type Doorbell, type Heard, isMissed } from "../../lib/model/doorbell.ts";

const now = new Date("2026-03-04T05:06:07Z");
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000);
const contact = { id: "map_1", notifyEnabled: true };

function doorbell(heard: Partial<Heard> | null, more: Partial<Doorbell> = {}): Doorbell {
  const rung = { rungAt: ago(600), aliveSince: ago(900), missedAt: null };
  return { madeAt: ago(3_600), pepper: 1, heard: new Map(heard ? [["map_1", { ...rung, ...heard }]] : []), ...more };
}

describe("a mapping's doorbell", () => {
  test.each([
    ["off while there is none", null, contact, "off"],
    ["off after its removal", doorbell({}, { madeAt: null }), contact, "off"],
    ["off where the mapping does not listen", doorbell({}), { ...contact, notifyEnabled: false }, "off"],
    ["waiting until it has rung", doorbell(null), contact, "waiting"],
    ["alive however long it has been silent", doorbell({ rungAt: ago(86_400) }), contact, "alive"],
    ["alive while the ring of a found change may still come", doorbell({ missedAt: ago(29) }), contact, "alive"],
    ["dead once it has not come", doorbell({ missedAt: ago(31) }), contact, "dead"],
  ])("is %s", (_, bell, mapping, state) => {
    expect(bellOf(bell, mapping, now).state).toBe(state);
  });

  test("says since when", () => {
    expect(bellOf(doorbell({}), contact, now).since).toEqual(ago(900));
    expect(bellOf(doorbell({ missedAt: ago(31) }), contact, now).since).toEqual(ago(31));
  });

  test.each([
    ["long after its last ring", doorbell({ rungAt: ago(31) }), true],
    ["right after a ring, which announced it", doorbell({ rungAt: ago(29) }), false],
    ["again before the ring of the first one came", doorbell({ missedAt: ago(5) }), false],
    ["before it ever rang", doorbell(null), false],
  ])("that is found by a poll %s is missed: %#", (_, bell, missed) => {
    expect(isMissed(bell, contact, now)).toBe(missed);
  });
});
