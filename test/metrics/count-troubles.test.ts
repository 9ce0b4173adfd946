import { expect, test } from "vitest";
import { countTroubles } from "../../lib/metrics/count-troubles.ts";
import type { Mapping } from "../../lib/model/mapping/mapping.ts";
import type { Pause } from "../../lib/model/workspace/pause.ts";
import { sampleReport } from "../support/doubles/sample-report.ts";

const NOW = new Date("2026-03-01T12:00:00Z");
const minutesAgo = (minutes: number) => new Date(NOW.getTime() - minutes * 60_000);

interface Seen {
  /** When its last cycle ended, in minutes before now; null: none has; left out: no sweep has seen it. */
  readonly last?: number | null;
  readonly changed?: number;
  readonly broken?: true;
  readonly paused?: true;
  readonly state?: "pending" | "failed";
}

/** What was seen of the only active mapping, and whether it counts as broken or as silent. */
const CASES: Readonly<Record<string, readonly [seen: Seen, broken: number, silent: number]>> = {
  "its cycles come": [{ last: 0.2 }, 0, 0],
  "a cycle of three minutes, or a rest of five": [{ last: 5.9 }, 0, 0],
  "its schedule has stopped": [{ last: 6.1 }, 0, 1],
  "it was changed a minute ago, and has had no cycle since": [{ last: 30, changed: 1 }, 0, 0],
  "it is new, and no cycle has ended": [{ last: null, changed: 7 }, 0, 1],
  "it is new, and no sweep has seen it": [{ changed: 7 }, 0, 1],
  "it is broken, and its cycles come": [{ last: 0.2, broken: true }, 1, 0],
  "it is broken, and its database has been down for an hour": [{ last: 60, broken: true }, 1, 0],
  "its table cannot be created": [{ state: "failed", changed: 60 }, 1, 0],
  "its table is being created: the queue's age is watched": [{ state: "pending", changed: 60 }, 0, 0],
  "a person has paused it": [{ last: 60, paused: true }, 0, 0],
  "a person has paused it, and it is broken": [{ last: 60, broken: true, paused: true }, 0, 0],
};

test.each(Object.entries(CASES))("%s", async (_, [seen, broken, silent]) => {
  const { last, changed = 600, paused, state = "ready" } = seen;
  const mapping = { id: "m1", workspaceId: "ws", updatedAt: minutesAgo(changed), provisioning: { state } } as Mapping;
  const report = sampleReport();
  const [figures] = report.figures?.mappings ?? [];
  const lastCycleAt = last === null ? null : minutesAgo(last ?? 0).getTime();
  const kept = {
    ...report,
    mappings: report.mappings.map((one) => ({ ...one, broken: seen.broken === true })),
    figures: last === undefined || !figures ? null : { mappings: [{ ...figures, lastCycleAt }], webhooks: [] },
  };
  const reports = new Map([["ws", kept]]);
  const pauses = { find: async () => (paused ? ({} as Pause) : null) };

  expect(await countTroubles({ reports, pauses, now: () => NOW }, [mapping])).toEqual({ broken, silent });
});
