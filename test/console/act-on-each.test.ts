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
