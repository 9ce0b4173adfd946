import { expect, test } from "vitest";
import { creationWindow } from "../../../lib/model/change/in-doubt.ts";

const at = (time: string) => new Date(`2026-11-20T${time}Z`);

test.each([
  ["one send", "10:00:00", "10:00:00", "09:58:00", "10:13:00"],
  ["two sends", "10:00:00", "10:10:00", "09:58:00", "10:23:00"],
])("the records of %s are looked for from two minutes before the first to thirteen after the last", (...times) => {
  const [, first, last, from, until] = times;

  expect(creationWindow(at(first), at(last))).toEqual({ from: at(from), until: at(until) });
});
