import { afterAll, beforeAll, expect, test } from "vitest";
import { expectRefusal, expectUsage, openPlayer, type Player } from "./play.ts";
import { named, type Recorded, recorded } from "./recorded.ts";

interface Save extends Recorded {
  readonly results?: readonly unknown[];
}

let player: Player;
beforeAll(async () => {
  player = await openPlayer();
});
afterAll(() => player.close());

const SAVES = recorded<Save>("soap");

test.each(named(SAVES.filter(({ results }) => results)))("%s", async (_, answer) => {
  const reading = await player.play(answer);

  expect(reading.read).toMatchObject(answer.results ?? []);
  expectUsage(reading, answer.usage);
});

test.each(named(SAVES.filter(({ refused }) => refused)))("%s", async (_, answer) => {
  expectRefusal(await player.play(answer), answer.refused);
});

test("each result is one, whatever space the envelope is printed with", async () => {
  for (const answer of SAVES.filter(({ results }) => results)) {
    const text = answer.text.replace(/>\s+</g, "><");

    const { read } = await player.play({ ...answer, text });

    expect(read).toMatchObject(answer.results ?? []);
  }
});
