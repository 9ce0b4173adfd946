import { expect, test } from "vitest";
import { actOnEach } from "../../lib/console/api/act-on-each.ts";

test("deliveries are sent again in their order, and what was sent is not sent twice when one is refused", async () => {
  const sent: string[] = [];
  const chosen = new Set(["a", "b", "c", "d"]);
  const answers = [null, null, new Error("too many requests"), null, null];
  const send = async (id: string) => {
    const refusal = answers.shift();
    if (refusal) throw refusal;
    sent.push(id);
  };
  const sendChosen = () => actOnEach([...chosen], send, (id) => chosen.delete(id));

  const first = await sendChosen();
  const rest = [...chosen];
  const second = await sendChosen();

  expect(first).toEqual({ done: 2, refusal: new Error("too many requests") });
  expect(rest).toEqual(["c", "d"]);
  expect(second).toEqual({ done: 2, refusal: null });
  expect(sent).toEqual(["a", "b", "c", "d"]);
  expect(chosen.size).toBe(0);
});

test("each is done before the next begins", async () => {
  const steps: string[] = [];
  const act = async (id: string) => {
    steps.push(`begins ${id}`);
    await Promise.resolve();
    steps.push(`ends ${id}`);
  };

  await actOnEach(["a", "b"], act, (id) => steps.push(`done ${id}`));

  expect(steps).toEqual(["begins a", "ends a", "done a", "begins b", "ends b", "done b"]);
});
