import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { metricsText } from "../../lib/metrics/scrape.ts";

/** Prometheus' own checker (Debian: `apt-get install prometheus`); without it the independent parser stands alone. */
const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;

const HOSTILE = ['a"b', "a\\b", "a\nb", '\\"', "\\n", "{}", '",object="x', "# HELP x", "ü😀", "} 5\nfake_total 1"];

test.skipIf(!hasPromtool)("promtool accepts the metrics, whatever names they tell", () => {
  const text = metricsText({
    totals: HOSTILE.map((name) => ({
      workspaceId: name,
      mappingId: name,
      sfObject: name,
      rowsSynced: 5,
      rowsFailed: 1,
      apiCalls: { SOAP: 1, REST: 2 },
    })),
    depths: HOSTILE.map((workspaceId) => ({ workspaceId, rows: 3 })),
    calls: [],
  });

  const { status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" });

  expect({ status, said: `${stdout}${stderr}` }).toEqual({ status: 0, said: "" });
});
