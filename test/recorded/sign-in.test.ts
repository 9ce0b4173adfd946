import { afterAll, beforeAll, expect, test } from "vitest";
import { newestCommonVersion } from "../../lib/model/api-version.ts";
import { expectRefusal, openPlayer, type Player } from "./play.ts";
import { named, recorded } from "./recorded.ts";

let player: Player;
beforeAll(async () => {
  player = await openPlayer();
});
afterAll(() => player.close());

const ANSWERS = recorded("sign-in");

test.each(named(ANSWERS.filter(({ refused }) => !refused)))("%s", async (_, answer) => {
  const { read, refusal } = await player.play(answer);

  expect(refusal).toBeNull();
  expect(read).toMatchObject(answer.gives as object);
});

test.each(named(ANSWERS.filter(({ refused }) => refused)))("%s is no session", async (_, answer) => {
  expectRefusal(await player.play(answer), answer.refused);
});

test("the newest version of each org that both sides know is found", async () => {
  const lists = ANSWERS.filter(({ ask }) => ask === "versions").map(({ gives }) => gives as string[]);

  expect(lists.map(newestCommonVersion)).toEqual(["66.0", "20.0"]);
});
