import { afterAll, beforeAll, expect, test } from "vitest";
import { bulkError } from "../../lib/model/change/bulk-error.ts";
import { type CsvLine, valueIn } from "../../lib/model/record/csv-line.ts";
import { expectRefusal, openPlayer, type Player } from "./play.ts";
import { named, type Recorded, recorded } from "./recorded.ts";

interface Job extends Recorded {
  /** Values by column; `error` is what `sf__Error` has to mean. */
  readonly lines?: readonly (Readonly<Record<string, string>> & { readonly error?: object })[];
}

let player: Player;
beforeAll(async () => {
  player = await openPlayer();
});
afterAll(() => player.close());

const JOBS = recorded<Job>("bulk");

test.each(named(JOBS.filter(({ lines, refused }) => !lines && !refused)))("%s", async (_, answer) => {
  const { read, refusal } = await player.play(answer);

  expect(refusal).toBeNull();
  if (typeof answer.gives === "object" && answer.gives !== null) expect(read).toMatchObject(answer.gives);
  else expect(read ?? null).toBe(answer.gives);
});

test.each(named(JOBS.filter(({ lines }) => lines)))("%s", async (_, answer) => {
  const { read } = await player.play(answer);

  const { lines = [], gives = {} } = answer;
  const came = Array.isArray(read) ? (read as CsvLine[]) : (read as { lines: CsvLine[] }).lines;
  expect(came).toHaveLength(lines.length);
  for (const [at, { error, ...values }] of lines.entries()) {
    const line = came[at] ?? { names: [], text: "" };
    for (const [name, value] of Object.entries(values)) expect(valueIn(line, name)).toBe(value);
    if (error) expect(bulkError(valueIn(line, "sf__Error") ?? "")).toMatchObject(error);
  }
  if (!Array.isArray(read)) expect(read).toMatchObject(gives as object);
});

test.each(named(JOBS.filter(({ refused }) => refused)))("%s", async (_, answer) => {
  expectRefusal(await player.play(answer), answer.refused);
});

test.each(named(JOBS.filter(({ lines }) => lines && lines.length > 0)))(
  "%s, the same with the line ends of Windows",
  async (_, answer) => {
    const text = answer.text.replaceAll('"\n', '"\r\n');

    const { read, refusal } = await player.play({ ...answer, text });

    const came = Array.isArray(read) ? read : (read as { lines: unknown[] }).lines;
    expect(refusal).toBeNull();
    expect(came).toHaveLength(answer.lines?.length ?? 0);
  },
);
