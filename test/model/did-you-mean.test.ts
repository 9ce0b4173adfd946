import { expect, test } from "vitest";
import type { Entry } from "../../lib/config/document.ts";
import type { OrgObject } from "../../lib/config/org-ports.ts";
import { spellNames } from "../../lib/config/spell-names.ts";
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

test("a field that the object does not have is answered with the one that may be meant", () => {
  const entry = { path: "mappings[0]", objectName: "Contact", fields: ["Nme", "Zebra"], upsertField: null };
  const fields = ["Id", "Name"].map((name) => ({ name, type: "string", referenceTo: [], relationshipName: null }));
  const object = { name: "Contact", queryable: true, fields };

  const { problems } = spellNames(entry as unknown as Entry, null, object as unknown as OrgObject, new Map());

  const unknown = "is no field of this object that the connected org's user can see";
  expect(problems).toEqual([
    { path: "mappings[0].config.fields.Nme", message: `${unknown}; did you mean Name?` },
    { path: "mappings[0].config.fields.Zebra", message: unknown },
  ]);
});

test("a word that is none of a list is answered with the one that may be meant", () => {
  const states = oneOf(["NEW", "FAILED"]);

  expect(() => validate(states, "FAILD")).toThrow("must be one of NEW, FAILED; did you mean FAILED?");
  expect(() => validate(states, "DONE")).toThrow(/must be one of NEW, FAILED$/);
  expect(() => validate(states, 5)).toThrow(/must be one of NEW, FAILED$/);
});
