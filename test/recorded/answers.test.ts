import { afterAll, beforeAll, expect, test } from "vitest";
import { newestCommonVersion } from "../../lib/model/api-version.ts";
import { bulkError } from "../../lib/model/change/bulk-error.ts";
import type { DescribedObject } from "../../lib/model/mapping/describe.ts";
import { isMappable, traitsOf } from "../../lib/model/mapping/field-type.ts";
import { type CsvLine, valueIn } from "../../lib/model/record/csv-line.ts";
import { explainRefusal } from "../../lib/settings/explain-refusal.ts";
import type { QueryPage } from "../../lib/sync/ports/pull-ports.ts";
import { ASKS } from "./asks.ts";
import { openPlayer, type Player, type Reading } from "./play.ts";
import { describedBy, type Recorded, type RecordedDescribe, recorded } from "./recorded.ts";

let player: Player;
beforeAll(async () => {
  player = await openPlayer();
});
afterAll(() => player.close());

const KINDS = ["bulk", "counts", "passing", "queries", "refusals", "sign-in", "soap"];
const ALL = KINDS.flatMap((kind) => recorded(kind).map((answer) => ({ ...answer, kind })));
const [READ, REFUSED] = [ALL.filter(({ refused }) => !refused), ALL.filter(({ refused }) => refused)];

test.each(READ.map((answer) => [answer.kind, answer.name, answer] as const))(
  "%s, %s: is read as it was meant",
  async (_, __, answer) => {
    const reading = await player.play(answer);

    expect(reading.refusal).toBeNull();
    expectRead(answer, reading.read);
    const [used, limit] = answer.usage ?? [];
    if (reading.usage ?? answer.usage) expect(reading.usage).toEqual({ used, limit });
  },
);

test.each(REFUSED.map((answer) => [answer.kind, answer.name, answer] as const))(
  "%s, %s: is the refusal that it has to be",
  async (_, __, answer) => {
    const { refusal } = await player.play(answer);

    const { says = "", not, ...stated } = answer.refused ?? {};
    expect(refusal).toMatchObject(stated);
    expect(refusal?.message).toContain(says);
    if (not === undefined) return;
    expect(refusal?.kind).not.toBe(not);
    expect(refusal?.message).not.toContain("connect the workspace to Salesforce again");
  },
);

/** What our client has to have read in an answer, which says it by its kind. */
function expectRead({ ask, gives, lines, results, parts }: Recorded, read: unknown): void {
  if (ask === "query") expectPage(gives as Page, read as QueryPage);
  else if (lines) expectLines(lines, read, gives ?? {});
  else if (results ?? parts) {
    expect(read).toHaveLength((results ?? parts ?? []).length);
    expect(read).toMatchObject(results ?? parts ?? []);
  } else if (ask === "objects") expect((read as { name: string }[]).map(({ name }) => name)).toEqual(gives);
  else if (typeof gives === "object" && gives !== null) expect(asJson(read)).toMatchObject(gives);
  else expect(read ?? null).toBe(gives ?? null);
}

/** Dates as text. */
const asJson = (read: unknown): unknown => JSON.parse(JSON.stringify(read));

interface Page {
  readonly complete: boolean;
  readonly names?: readonly string[];
  /** What the first and the last record hold, and the names of all that the first one has. */
  readonly first?: Readonly<Record<string, unknown>>;
  readonly last?: Readonly<Record<string, unknown>>;
  readonly firstHas?: readonly string[];
}

function expectPage({ complete, names, first = {}, last = {}, firstHas = [] }: Page, page: QueryPage): void {
  expect(page.complete).toBe(complete);
  if (names) expect(page.records.map(({ Name }) => Name)).toEqual(names);
  expect(Object.keys(page.records[0] ?? {})).toEqual(expect.arrayContaining([...firstHas]));
  expect(page.records.at(0) ?? {}).toMatchObject(first);
  expect(page.records.at(-1) ?? {}).toMatchObject(last);
  expect(page.readAt.getTime()).not.toBeNaN();
}

function expectLines(lines: NonNullable<Recorded["lines"]>, read: unknown, gives: object): void {
  const came = Array.isArray(read) ? (read as CsvLine[]) : (read as { lines: CsvLine[] }).lines;
  expect(came).toHaveLength(lines.length);
  for (const [at, { error, ...values }] of lines.entries()) {
    const line = came[at] ?? { names: [], text: "" };
    for (const [name, value] of Object.entries(values)) expect(valueIn(line, name)).toBe(value);
    if (error) expect(bulkError(valueIn(line, "sf__Error") ?? "")).toMatchObject(error);
  }
  if (!Array.isArray(read)) expect(read).toMatchObject(gives);
}

test("files and envelopes are read the same with other line ends, and without the space between elements", async () => {
  const windows = READ.filter(({ lines = [] }) => lines.length > 0).map((answer): [Recorded, string] => [
    answer,
    answer.text.replaceAll('"\n', '"\r\n'),
  ]);
  const dense = READ.filter(({ results }) => results).map((answer): [Recorded, string] => [
    answer,
    answer.text.replace(/>\s+</g, "><"),
  ]);

  for (const [answer, text] of [...windows, ...dense]) {
    const { read }: Reading = await player.play({ ...answer, text });

    if (answer.results) expectRead(answer, read);
    else
      expect(Array.isArray(read) ? read : (read as { lines: unknown[] }).lines).toHaveLength(answer.lines?.length ?? 0);
  }
});

test("a session that has ended is renewed once, and the call is repeated", async () => {
  const ended = REFUSED.find(({ name }) => name === "a session that has ended");

  expect((await player.play(ended ?? { ask: null, text: "" })).sent).toHaveLength(2);
});

test("an invalid field is the same refusal as a part of a composite", async () => {
  for (const { text: alone, status, refused } of REFUSED.filter((one) => one.refused?.code === "INVALID_FIELD")) {
    const part = { body: JSON.parse(alone) as unknown, httpHeaders: {}, httpStatusCode: status, referenceId: "q0" };
    const text = JSON.stringify({ compositeResponse: [part] });

    const { read } = await player.play({ ask: "together", parts: [{}], text });

    const { says: _says, ...stated } = refused ?? {};
    expect(read).toMatchObject([stated]);
  }
});

test("a refused sign-in comes with what to do about it, and the newest version that both sides know is found", async () => {
  for (const answer of REFUSED.filter(({ remedy }) => remedy)) {
    const { refusal } = await player.play({ ...answer, ask: "logIn" });
    expect(refusal && explainRefusal(refusal)).toContain(answer.remedy);
  }
  const lists = READ.filter(({ ask }) => ask === "versions").map(({ gives }) => gives as string[]);
  expect(lists.map(newestCommonVersion)).toEqual(["66.0", "20.0"]);
});

test.each(recorded<RecordedDescribe>("describes").map((answer) => [answer.name, answer] as const))(
  "the describe of %s is read whole, and each field has a column, compound ones aside",
  async (_, answer) => {
    const described = describedBy(answer);

    const { read } = await player.play({ ask: "describe", text: JSON.stringify(described) });

    const { fields, ...object } = read as DescribedObject;
    expect(object).toMatchObject(answer.object);
    expect(fields.map(({ name, type }) => [name, type])).toEqual(
      described.fields.map(({ name, type }) => [name, type]),
    );
    for (const field of described.fields) {
      const { column } = isMappable(field.type) ? traitsOf(field.type) : { column: () => field.type };
      expect(column(field)).toMatch(
        /^(varchar\(\d+\)|text|numeric|integer|boolean|date|timestamptz|time|bigint|address)$/,
      );
    }
  },
);

test("every answer names where it was published, and holds no person's address", () => {
  // A file of a repository, a thread, a page; `unnamed` begins one of which the index of public files names no repository.
  const source = /^(?:[\w.-]+\/[\w.-]+@[0-9a-f]{7}:\S|[\w.-]+\/[\w.-]+#\d|https?:\/\/\S|unnamed: )/;
  const every = [...KINDS, "describes", "rest-saves"].flatMap((kind) => recorded(kind));
  const addresses = every.flatMap(({ text }) => text?.match(/[\w.]+@[\w.]+\.\w+/g) ?? []);

  expect(every.filter((answer) => !source.test(answer.source))).toEqual([]);
  expect(addresses.filter((address) => !/example\.com$|^[a-z]+@00ddm00000vfgtuuai/.test(address))).toEqual([]);
});

test("every call of ours that reads an answer has a recorded one", () => {
  const asked = new Set(["save", "logIn", "describe", ...ALL.map(({ ask }) => ask)]);

  expect(Object.keys(ASKS).filter((ask) => !asked.has(ask))).toEqual([]);
});
