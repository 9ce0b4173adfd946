import { afterAll, beforeAll, expect, test } from "vitest";
import { newestCommonVersion } from "../../lib/model/api-version.ts";
import { explainRefusal } from "../../lib/settings/explain-refusal.ts";
import { expectRefusal, openPlayer, type Player } from "./play.ts";
import { named, type Recorded, recorded } from "./recorded.ts";

/** A refusal of the token endpoint, and a piece of what an operator is advised to do. */
interface SignIn extends Recorded {
  readonly remedy?: string;
}

let player: Player;
beforeAll(async () => {
  player = await openPlayer();
});
afterAll(() => player.close());

const ANSWERS = recorded<SignIn>("sign-in");

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

test.each(named(ANSWERS.filter(({ remedy }) => remedy)))("%s comes with what to do about it", async (_, answer) => {
  const { refusal } = await player.play({ ...answer, ask: "logIn" });

  expect(refusal && explainRefusal(refusal)).toContain(answer.remedy);
});
