import { afterAll, beforeAll, expect, test } from "vitest";
import type { RequestRefusal } from "../../lib/model/change/refusal.ts";
import type { QueryPage } from "../../lib/sync/ports/pull-ports.ts";
import { expectUsage, openPlayer, type Player } from "./play.ts";
import { named, type Recorded, recorded } from "./recorded.ts";

interface Page extends Recorded {
  readonly gives?: {
    readonly complete: boolean;
    readonly names?: readonly string[];
    /** What the first and the last record hold, and the names of all that the first one has. */
    readonly first?: Readonly<Record<string, unknown>>;
    readonly last?: Readonly<Record<string, unknown>>;
    readonly firstHas?: readonly string[];
  };
}

let player: Player;
beforeAll(async () => {
  player = await openPlayer();
});
afterAll(() => player.close());

const PAGES = recorded<Page>("queries");

test.each(named(PAGES.filter(({ ask }) => ask === "query")))("a query: %s", async (_, answer) => {
  const reading = await player.play(answer);

  const { complete, records, readAt } = reading.read as QueryPage;
  const { names, first = {}, last = {}, firstHas } = answer.gives ?? {};
  expect(complete).toBe(answer.gives?.complete);
  if (names) expect(records.map(({ Name }) => Name)).toEqual(names);
  if (firstHas) expect(Object.keys(records[0] ?? {})).toEqual(expect.arrayContaining([...firstHas]));
  expect(records.at(0) ?? {}).toMatchObject(first);
  expect(records.at(-1) ?? {}).toMatchObject(last);
  expect(readAt.getTime()).not.toBeNaN();
  expectUsage(reading, answer.usage);
});

test.each(named(PAGES.filter(({ ask }) => ask === "together")))("%s", async (_, answer) => {
  const { read } = await player.play(answer);

  const parts = read as readonly (QueryPage | RequestRefusal)[];
  expect(parts).toHaveLength(answer.parts?.length ?? 0);
  for (const [at, part] of parts.entries()) expect(part).toMatchObject(answer.parts?.[at] ?? {});
});
