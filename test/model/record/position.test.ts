import { expect, test } from "vitest";
import { createPosition } from "../../../lib/model/record/position.ts";

const at = (time: string) => new Date(`2026-02-03T${time}Z`);

test("an idle pull moves the position to a minute before the org's time", () => {
  const position = createPosition(at("10:00:00"));

  expect(position.after({ lastStamp: null, readAt: at("11:00:00") })).toEqual(at("10:59:00"));
});

test("a long backlog moves it page by page", () => {
  const position = createPosition(at("10:00:00"));

  expect(position.after({ lastStamp: at("10:10:00"), readAt: at("11:00:00") })).toEqual(at("10:10:00"));
  expect(position.after({ lastStamp: at("10:20:00"), readAt: at("11:00:01") })).toEqual(at("10:20:00"));
  expect(position.after({ lastStamp: null, readAt: at("11:00:02") })).toEqual(at("10:59:02"));
});

test("a record that was committed late while the pull was paging is read by the next one", () => {
  const position = createPosition(at("10:00:00"));
  position.after({ lastStamp: at("10:59:58"), readAt: at("11:00:00") });

  // Stamped 10:59:50, committed 11:00:05: the first page had passed it, and the last one came two minutes later.
  expect(position.after({ lastStamp: null, readAt: at("11:02:00") })).toEqual(at("10:59:00"));
});

test("the position goes back with the org's clock, and stays there until the next pull", () => {
  const position = createPosition(at("10:59:00"));

  expect(position.after({ lastStamp: at("10:59:40"), readAt: at("10:00:00") })).toEqual(at("09:59:00"));
  expect(position.after({ lastStamp: null, readAt: at("10:00:10") })).toEqual(at("09:59:00"));
});

test("the position never goes back while that clock continues", () => {
  const position = createPosition(at("10:59:30"));

  expect(position.after({ lastStamp: null, readAt: at("11:00:00") })).toEqual(at("10:59:30"));
});
