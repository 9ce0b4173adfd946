import { afterAll, beforeAll, expect, test } from "vitest";
import { expectRefusal, openPlayer, type Player } from "./play.ts";
import { named, recorded } from "./recorded.ts";

let player: Player;
beforeAll(async () => {
  player = await openPlayer();
});
afterAll(() => player.close());

const REFUSALS = recorded("refusals");

test.each(named(REFUSALS))("%s is the refusal that it has to be", async (_, answer) => {
  expectRefusal(await player.play(answer), answer.refused);
});

test("a session that has ended is renewed once, and the call is repeated", async () => {
  const [ended] = REFUSALS;
  if (!ended) throw new Error("there is no refusal");

  const { sent } = await player.play(ended);

  expect(sent).toHaveLength(2);
});

test.each(named(REFUSALS.filter(({ refused }) => refused?.code === "INVALID_FIELD")))(
  "%s is the same refusal as a part of a composite",
  async (_, answer) => {
    const body = JSON.parse(answer.text) as unknown;
    const part = { body, httpHeaders: {}, httpStatusCode: answer.status, referenceId: "q0" };
    const text = JSON.stringify({ compositeResponse: [part] });

    const { read } = await player.play({ ask: "together", parts: [{}], text });

    const { says: _says, ...stated } = answer.refused ?? {};
    expect(read).toMatchObject([stated]);
  },
);
