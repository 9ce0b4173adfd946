import type { ServerResponse } from "node:http";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { aLyingOrg, engine, org, refusalOf, salesforce } from "./lying.ts";

/** An answer's next piece must come within a minute, a whole answer within a quarter of one. */
const SILENCE = 60_000;
const WHOLE = 15_000;

const HEADER = "Id,Name\n";
const lines = (count: number) => `001000000000001AAA,${"n".repeat(200)}\n`.repeat(count);

aLyingOrg();
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

/** What comes as a stream, as the lists of its lines. */
const STREAMS: Readonly<Record<string, () => Promise<AsyncIterable<{ readonly length: number }>>>> = {
  "results of a query": async () => {
    const { pieces } = await salesforce().bulkResults("750000000000001AAA", null);
    return (async function* () {
      for await (const piece of pieces) yield piece.lines;
    })();
  },
  "records of a save": () => salesforce().bulkSaved("750000000000001AAA", "successful"),
};

/** Answers with the first bytes of a stream; gives the answer, to continue it. */
function beginning(text: string): Promise<ServerResponse> {
  const { promise, resolve } = Promise.withResolvers<ServerResponse>();
  org.answer((response) => {
    response.setHeader("sforce-locator", "null").write(text);
    resolve(response);
  });
  return promise;
}

test.each(Object.entries(STREAMS))(
  "%s: a reader that takes its time between two pieces gets all of them",
  async (_, read) => {
    const all = 20_000;
    org.answer((response) => response.setHeader("sforce-locator", "null").end(HEADER + lines(all)));

    let found = 0;
    let pauses = 0;
    for await (const piece of await read()) {
      found += piece.length;
      pauses += 1;
      await vi.advanceTimersByTimeAsync(SILENCE + 5_000);
    }

    expect(found).toBe(all);
    expect(pauses).toBeGreaterThan(2);
  },
);

test.each(Object.entries(STREAMS))(
  "%s: an org that falls silent is given up, however slow the reader was before",
  async (_, read) => {
    const answer = beginning(HEADER + lines(3_000));
    const pieces = (await read())[Symbol.asyncIterator]();
    await pieces.next();
    await vi.advanceTimersByTimeAsync(SILENCE * 3);

    let end: unknown;
    void refusalOf(untilTheEnd(pieces)).then((refusal) => {
      end = refusal;
    });
    for (let passed = 0; passed < 3 * SILENCE && end === undefined; passed += 1_000) {
      for (let turns = 0; turns < 20; turns++) await turn();
      await vi.advanceTimersByTimeAsync(1_000);
    }

    expect(end).toMatchObject({ code: "TIMEOUT", kind: "transient" });
    (await answer).destroy();
  },
);

async function untilTheEnd(pieces: AsyncIterator<unknown>): Promise<void> {
  while (!(await pieces.next()).done);
}

test("an org that sends a little at a time is read to the end", async () => {
  const answer = beginning(HEADER);
  const { pieces } = await salesforce().bulkResults("750000000000001AAA", null);
  const each = pieces[Symbol.asyncIterator]();
  let found = (await each.next()).value?.lines.length;

  for (const text of [lines(1), lines(1).slice(0, 9), lines(1).slice(9), lines(1)]) {
    const next = each.next();
    await vi.advanceTimersByTimeAsync(SILENCE - 1_000);
    (await answer).write(text);
    found += (await next).value?.lines.length;
  }
  (await answer).end();

  await untilTheEnd(each);
  expect(found).toBe(3);
});

const WHOLE_ANSWERS = ["query", "queryTogether", "describe", "recordCount", "deleted", "bulkQueryRecords"] as const;

test.each(Object.entries(STREAMS))("%s: an org that never begins to answer is given up", async (_, read) => {
  const { promise: asked, resolve } = Promise.withResolvers<ServerResponse>();
  org.answer(resolve);
  const found = refusalOf(read().then((pieces) => untilTheEnd(pieces[Symbol.asyncIterator]())));
  const answer = await asked;

  await vi.advanceTimersByTimeAsync(SILENCE);

  expect(await found).toMatchObject({ code: "TIMEOUT" });
  answer.destroy();
});

test.each(WHOLE_ANSWERS)("%s: an answer that trickles is given up when the whole of it is late", async (name) => {
  const answer = beginning("{");
  const found = refusalOf(engine[name]());
  await answer;
  await vi.advanceTimersByTimeAsync(WHOLE - 1_000);
  (await answer).write(" ");

  await vi.advanceTimersByTimeAsync(1_000);

  expect(await found).toMatchObject({ code: "TIMEOUT", kind: "transient" });
  (await answer).destroy();
});
