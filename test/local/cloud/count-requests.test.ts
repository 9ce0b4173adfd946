import { expect, test } from "vitest";
import { countRequests } from "../../../lib/local/cloud/lambda/count-requests.ts";

test("sources and minutes are counted apart, each request once", () => {
  const count = countRequests();

  const counted = [count("192.0.2.1", 7), count("192.0.2.1", 7), count("192.0.2.2", 7), count("192.0.2.1", 8)];

  expect(counted).toEqual([1, 2, 1, 1]);
});

test("a request that began before the minute ended is counted in its own", () => {
  const count = countRequests();
  count("192.0.2.1", 7);
  count("192.0.2.1", 8);

  expect(count("192.0.2.1", 7)).toBe(2);
});

test("minutes that are over are forgotten, so that it never grows", () => {
  const count = countRequests();
  count("192.0.2.1", 7);
  count("192.0.2.1", 9);

  expect(count("192.0.2.1", 7)).toBe(1);
});
