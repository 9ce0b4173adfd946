import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ASKS } from "./asks.ts";
import { type Recorded, recorded } from "./recorded.ts";

const KINDS = readdirSync(join(import.meta.dirname, "answers")).map((file) => file.replace(".json", ""));
const ALL = KINDS.flatMap((kind) => recorded(kind).map((answer) => ({ ...answer, kind })));

/** A file of a repository, a thread, a page; `unnamed` begins one of which the index of public files names no repository. */
const SOURCE = /^(?:[\w.-]+\/[\w.-]+@[0-9a-f]{7}:\S|[\w.-]+\/[\w.-]+#\d|https?:\/\/\S|unnamed: )/;

/** Refusals, faults, failures, and answers of a form or value that a reader of the documentation would not expect. */
const isErrorOrOdd = (answer: Recorded & { readonly code?: string; readonly lines?: readonly object[] }) =>
  answer.refused !== undefined ||
  answer.code !== undefined ||
  (answer.status ?? 200) >= 400 ||
  /"success"\s*:\s*false|<success>false|sf__Error|"Failed"|INVALID_TYPE|NOT_FOUND/.test(answer.text ?? "") ||
  /zero|though|nothing|null|three digits|15 characters|first page|the number|page of/.test(answer.name);

test("at least 120 answers are recorded, and half of them are errors or odd", () => {
  expect(ALL.length).toBeGreaterThanOrEqual(120);
  expect(ALL.filter(isErrorOrOdd).length).toBeGreaterThanOrEqual(ALL.length / 2);
});

test.each(KINDS)("every answer of %s names where it was published, and has a name of its own", (kind) => {
  const answers = recorded(kind);

  expect(answers.filter(({ source }) => !SOURCE.test(source))).toEqual([]);
  expect(new Set(answers.map(({ name }) => name)).size).toBe(answers.length);
});

test("no answer holds a person's address or an org's token", () => {
  const addresses = ALL.flatMap(({ text }) => text?.match(/[\w.]+@[\w.]+\.\w+/g) ?? []);

  expect(addresses.filter((address) => !/example\.com$|^[a-z]+@00ddm00000vfgtuuai/.test(address))).toEqual([]);
});

test("every call of ours that reads an answer has a recorded one", () => {
  const asked = new Set(["save", "logIn", ...ALL.map(({ ask }) => ask)]);

  expect(Object.keys(ASKS).filter((ask) => !asked.has(ask))).toEqual([]);
});
