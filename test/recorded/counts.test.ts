import { afterAll, beforeAll, expect, test } from "vitest";
import { expectUsage, openPlayer, type Player } from "./play.ts";
import { named, recorded } from "./recorded.ts";

let player: Player;
beforeAll(async () => {
  player = await openPlayer();
});
afterAll(() => player.close());

const names = (read: unknown) => (read as readonly { readonly name: string }[]).map(({ name }) => name);

test.each(named(recorded("counts")))("%s", async (_, answer) => {
  const reading = await player.play(answer);

  const read = answer.ask === "objects" ? names(reading.read) : reading.read;
  const { gives } = answer;
  if (typeof gives === "object" && gives !== null) expect(asJson(read)).toMatchObject(gives);
  else expect(read).toBe(gives);
  expectUsage(reading, answer.usage);
});

/** Dates as text. */
const asJson = (read: unknown): unknown => JSON.parse(JSON.stringify(read));
