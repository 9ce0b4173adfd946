import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { moreText } from "../../lib/metrics/more-series.ts";
import { metricsText } from "../../lib/metrics/scrape.ts";
import { sampleReport } from "../support/doubles/sample-report.ts";

/** Prometheus' own checker (Debian: `apt-get install prometheus`); without it the independent parser is alone. */
const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;

const HOSTILE = ['a"b', "a\\b", "a\nb", '\\"', "\\n", "{}", '",object="x', "# HELP x", "ü😀", "} 5\nfake_total 1"];

test.skipIf(!hasPromtool)("promtool accepts the metrics, whatever names they contain", () => {
  const report = sampleReport();
  const [mapping] = report.figures?.mappings ?? [];
  if (!mapping) throw new Error("the sample has no mapping");
  const mappings = HOSTILE.map((name) => ({ ...mapping, id: name, object: name }));
  const deliveries = { successful: 1, failed: 2, pending: 0 };
  const webhooks = HOSTILE.map((id) => ({ id, isFailing: true, deliveries }));
  const reports = HOSTILE.map((name) => [name, { ...report, figures: { mappings, webhooks } }] as const);
  const text = metricsText({
    totals: HOSTILE.map((name) => ({
      workspaceId: name,
      mappingId: name,
      sfObject: name,
      rowsSynced: 5,
      rowsFailed: 1,
      apiCalls: { SOAP: 1, REST: 2 },
    })),
    depths: HOSTILE.map((workspaceId) => ({ workspaceId, rows: 3, countedAt: null })),
    calls: [],
    pauses: HOSTILE.map((workspaceId) => ({ workspaceId, since: new Date(0) })),
  });

  const { status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], {
    input: text + moreText(new Map(reports), new Date()),
    encoding: "utf8",
  });

  expect({ status, said: `${stdout}${stderr}` }).toEqual({ status: 0, said: "" });
});
