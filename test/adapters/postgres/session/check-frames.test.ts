import { expect, test } from "vitest";
import { frameCheck } from "../../../../lib/adapters/postgres/session/check-frames.ts";
import { COPY_IN, DONE, message, ONE_ROW, refusal, row, WELCOME } from "../../../support/doubles/backend-messages.ts";

const LONG = message("D", row("x".repeat(200_000)));
const SAID = [WELCOME, ONE_ROW, LONG, message("E", refusal()), DONE, COPY_IN, DONE];

test.each([1, 2, 3, 4, 5, 6, 7, 64, 1_000, 65_536, 1_000_000])(
  "what a server says in pieces of %i bytes comes whole, message by message",
  (size) => {
    const bytes = Buffer.concat(SAID);
    const given: Buffer[] = [];
    const take = frameCheck((one) => given.push(Buffer.from(one)));

    for (let at = 0; at < bytes.length; at += size) take(bytes.subarray(at, at + size));

    expect(Buffer.concat(given).equals(bytes)).toBe(true);
    expect(given.map((one) => one.readUInt32BE(1) + 1)).toEqual(given.map((one) => one.length));
    expect(given).toHaveLength(13);
  },
);

test("an answer without an end is refused, and one of as many messages that ends is not", () => {
  let given = 0;
  const take = frameCheck(() => void given++);
  take(Buffer.concat([WELCOME, ONE_ROW]));

  for (let row = 0; row < 1_000; row += 1) take(LONG);
  take(DONE);
  const endless = () => {
    for (take(ONE_ROW); ; ) take(LONG);
  };

  expect(endless).toThrow("an answer without an end");
  expect(given).toBeGreaterThan(2_000);
});
