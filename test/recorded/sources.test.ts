import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ASKS } from "./asks.ts";
import { recorded } from "./recorded.ts";

const KINDS = readdirSync(join(import.meta.dirname, "answers")).map((file) => file.replace(".json", ""));
const ALL = KINDS.flatMap((kind) => recorded(kind));

/** A file of a repository, a thread, a page; `unnamed` begins one of which the index of public files names no repository. */
const SOURCE = /^(?:[\w.-]+\/[\w.-]+@[0-9a-f]{7}:\S|[\w.-]+\/[\w.-]+#\d|https?:\/\/\S|unnamed: )/;

test("every answer names where it was published, has a name of its own, and holds no person's address", () => {
  const addresses = ALL.flatMap(({ text }) => text?.match(/[\w.]+@[\w.]+\.\w+/g) ?? []);

  expect(ALL.filter(({ source }) => !SOURCE.test(source))).toEqual([]);
  for (const answers of KINDS.map((kind) => recorded(kind)))
    expect(new Set(answers.map(({ name }) => name)).size).toBe(answers.length);
  expect(addresses.filter((address) => !/example\.com$|^[a-z]+@00ddm00000vfgtuuai/.test(address))).toEqual([]);
});

test("every call of ours that reads an answer has a recorded one", () => {
  const asked = new Set(["save", "logIn", ...ALL.map(({ ask }) => ask)]);

  expect(Object.keys(ASKS).filter((ask) => !asked.has(ask))).toEqual([]);
});
