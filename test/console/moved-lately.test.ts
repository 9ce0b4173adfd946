import type { ReadThroughputData } from "bridge/api";
import { expect, test } from "vitest";
import { movedLately } from "../../lib/console/pages/overview/moved-lately.ts";

test("what has just moved is that of the last minutes, of all mappings and both ways", () => {
  const step = (minute: number, accepted: number, pulled: number, refused = 0) => ({
    at: new Date(Date.UTC(2026, 10, 29, 5, minute)).toISOString(),
    ...{ accepted, refused, pulled, cycles: { well: 1, failed: 0, stopped: 0 } },
  });
  const of = (...steps: ReturnType<typeof step>[]) => ({ steps }) as unknown as ReadThroughputData["mappings"][number];
  const throughput = {
    to: "2026-11-29T05:30:00.000Z",
    mappings: [of(step(1, 0, 100), step(25, 7, 7), step(26, 2, 1)), of(step(30, 1, 3, 4))],
  } as unknown as ReadThroughputData;

  expect(movedLately(throughput, 5)).toEqual({ accepted: 3, refused: 4, pulled: 4 });
});
