import { expect, test } from "vitest";
import { oneOf, validate } from "../../lib/http/input.ts";
import { didYouMean } from "../../lib/model/nearest.ts";

test.each([
  ["Nme", "; did you mean Name?"],
  ["lastname", "; did you mean LastName?"],
  ["Emial", ""],
  ["Zebra", ""],
  ["", ""],
])("%j: %j", (name, question) => {
  expect(didYouMean(name, ["LastName", "Name", "Id"])).toBe(question);
});

test("a word that is none of a list is answered with the one that may be meant", () => {
  const states = oneOf(["NEW", "FAILED"]);

  expect(() => validate(states, "FAILD")).toThrow("must be one of NEW, FAILED; did you mean FAILED?");
  expect(() => validate(states, "DONE")).toThrow(/must be one of NEW, FAILED$/);
  expect(() => validate(states, 5)).toThrow(/must be one of NEW, FAILED$/);
});
