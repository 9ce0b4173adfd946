import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { moreText } from "../../lib/metrics/more-series.ts";
import { metricsText } from "../../lib/metrics/scrape.ts";
import { VERSION } from "../../lib/model/version.ts";
import { parseExposition } from "../support/checks/parse-exposition.ts";
import { sampleReport } from "../support/doubles/sample-report.ts";

const totals = (workspaceId: string, sfObject: string, mappingId: string, more = {}) => ({
  workspaceId,
  mappingId,
  sfObject,
  rowsSynced: 0,
  rowsFailed: 0,
  apiCalls: {},
  ...more,
});

test("the four metrics are reported as the contract names them, zero series included, and who is paused", () => {
  const text = metricsText({
    totals: [
      totals("ws_b", "Contact", "m1", { rowsSynced: 5, rowsFailed: 1, apiCalls: { SOAP: 3, REST: 2 } }),
      totals("ws_a", "Account", "m2"),
    ],
    depths: [{ workspaceId: "ws_b", rows: 7, countedAt: null }],
    calls: [{ workspaceId: "ws_b", apiCalls: { REST: 4 } }],
    pauses: [
      { workspaceId: "ws_a", since: new Date(0) },
      { workspaceId: "ws_b", since: null },
    ],
  });

  expect(text).toBe(
    [
      "# HELP bridge_sync_rows_total Rows synced to Salesforce.",
      "# TYPE bridge_sync_rows_total counter",
      'bridge_sync_rows_total{workspace_id="ws_a",object="Account"} 0',
      'bridge_sync_rows_total{workspace_id="ws_b",object="Contact"} 5',
      "# HELP bridge_sync_errors_total Rows that failed to sync.",
      "# TYPE bridge_sync_errors_total counter",
      'bridge_sync_errors_total{workspace_id="ws_a",object="Account"} 0',
      'bridge_sync_errors_total{workspace_id="ws_b",object="Contact"} 1',
      "# HELP bridge_trigger_log_queue_depth Rows in state NEW.",
      "# TYPE bridge_trigger_log_queue_depth gauge",
      'bridge_trigger_log_queue_depth{workspace_id="ws_a"} 0',
      'bridge_trigger_log_queue_depth{workspace_id="ws_b"} 7',
      "# HELP bridge_sf_api_calls_total Salesforce API calls made.",
      "# TYPE bridge_sf_api_calls_total counter",
      'bridge_sf_api_calls_total{workspace_id="ws_a",api="SOAP"} 0',
      'bridge_sf_api_calls_total{workspace_id="ws_b",api="REST"} 6',
      'bridge_sf_api_calls_total{workspace_id="ws_b",api="SOAP"} 3',
      "# HELP bridge_workspace_paused 1 while a person has stopped it.",
      "# TYPE bridge_workspace_paused gauge",
      'bridge_workspace_paused{workspace_id="ws_a"} 1',
      'bridge_workspace_paused{workspace_id="ws_b"} 0',
      "",
    ].join("\n"),
  );
});

test("hostile names come back from an independent parser as they were, and mappings of one object are one series", () => {
  const names = [
    'a"b',
    "a\\b",
    "a\nb",
    '\\"',
    "\\n",
    "{}",
    '",object="x',
    "# HELP x",
    "ü😀",
    'a\\\nb"',
    "} 5\nfake_total 1",
  ];
  const counted = (SOAP: number) => ({ rowsSynced: SOAP, apiCalls: { SOAP } });
  const text = metricsText({
    totals: names.flatMap((name) => [totals(name, name, "m1", counted(5)), totals(name, name, "gone", counted(2))]),
    depths: [],
    calls: [],
    pauses: [],
  });

  const [rows, , , calls] = parseExposition(text);
  expect(rows?.samples.map(({ labels }) => labels["object"]).toSorted()).toEqual(names.toSorted());
  expect(rows?.samples.every(({ labels }) => labels["workspace_id"] === labels["object"])).toBe(true);
  for (const series of [rows, calls]) expect(series?.samples.map(({ value }) => value)).toEqual(names.map(() => 7));

  const report = sampleReport();
  const hostile = (name: string) => {
    const mappings = (report.figures?.mappings ?? []).map((one, at) => ({ ...one, id: `${name}${at}`, object: name }));
    const webhooks = (report.figures?.webhooks ?? []).map((one, at) => ({ ...one, id: `${name}${at}` }));
    return [name, { ...report, figures: { mappings, webhooks } }] as const;
  };
  const more = parseExposition(moreText(new Map(names.map(hostile)), new Date(0)));
  const valuesOf = (series: string, label: string) =>
    more
      .find(({ name }) => name === series)
      ?.samples.map(({ labels }) => labels[label])
      .toSorted();
  expect(valuesOf("bridge_mapping_waiting_rows", "object")).toEqual(names.flatMap((name) => [name, name]).toSorted());
  expect(valuesOf("bridge_webhook_failing", "webhook_id")).toEqual(
    names.flatMap((name) => [`${name}0`, `${name}1`]).toSorted(),
  );
});

test("without any workspace the metrics are described all the same", () => {
  const described = parseExposition(metricsText({ totals: [], depths: [], calls: [], pauses: [] }));
  expect(described.map(({ name, type }) => `${type} ${name}`)).toEqual([
    ...["counter bridge_sync_rows_total", "counter bridge_sync_errors_total", "gauge bridge_trigger_log_queue_depth"],
    "counter bridge_sf_api_calls_total",
  ]);
});

test("what the minute sweep has seen and the engine keeps is reported by mapping, org and webhook", () => {
  const text = moreText(new Map([["ws", sampleReport()]]), new Date(60_000));

  const samples = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const contact = '{workspace_id="ws",mapping_id="m1",object="Contact"}';
  const account = '{workspace_id="ws",mapping_id="m2",object="Account"}';
  expect(samples).toEqual([
    `bridge_mapping_waiting_rows${contact} 3`,
    `bridge_mapping_waiting_rows${account} 0`,
    `bridge_mapping_oldest_waiting_seconds${contact} 50`,
    `bridge_mapping_oldest_waiting_seconds${account} 0`,
    `bridge_mapping_last_cycle_timestamp_seconds${contact} 50`,
    `bridge_mapping_pulled_rows_10m${contact} 5`,
    `bridge_mapping_pulled_rows_10m${account} 0`,
    `bridge_mapping_conflicts_24h${contact} 4`,
    `bridge_mapping_conflicts_24h${account} 0`,
    `bridge_mapping_inbound_errors${contact} 1`,
    `bridge_mapping_inbound_errors${account} 0`,
    `bridge_mapping_stalled${contact} 1`,
    `bridge_mapping_held_deletes${contact} 2`,
    `bridge_mapping_held_deletes${account} 0`,
    `bridge_mapping_lag_p50_seconds${contact} 4`,
    `bridge_mapping_lag_p95_seconds${contact} 9.5`,
    `bridge_mapping_broken${contact} 1`,
    `bridge_mapping_broken${account} 0`,
    "bridge_mappings_left_out{} 0",
    'bridge_org_calls_used{workspace_id="ws"} 800',
    'bridge_org_calls_limit{workspace_id="ws"} 1000',
    'bridge_org_calls_allowed{workspace_id="ws"} 640',
    'bridge_doorbells{workspace_id="ws",state="alive"} 1',
    'bridge_webhook_failing{workspace_id="ws",webhook_id="whk_1"} 1',
    'bridge_webhook_failing{workspace_id="ws",webhook_id="whk_2"} 0',
    'bridge_webhook_deliveries_1h{workspace_id="ws",webhook_id="whk_1",outcome="successful"} 7',
    'bridge_webhook_deliveries_1h{workspace_id="ws",webhook_id="whk_1",outcome="failed"} 2',
    'bridge_webhook_deliveries_1h{workspace_id="ws",webhook_id="whk_1",outcome="pending"} 1',
    `bridge_build_info{version="${VERSION}"} 1`,
  ]);
  expect(parseExposition(text).length).toBeGreaterThan(0);
});

test("the version that is shown is the package's", () => {
  const manifest = readFileSync(join(import.meta.dirname, "../../package.json"), "utf8");

  expect(VERSION).toBe((JSON.parse(manifest) as { version: string }).version);
});

test("2,500 mappings fit into a function's answer, and of one more they are counted only", () => {
  const report = sampleReport();
  const [busy] = report.figures?.mappings ?? [];
  if (!busy) throw new Error("the sample has no mapping");
  const textOf = (count: number) => {
    const many = Array.from({ length: count }, (_, at) => ({ ...busy, id: `map_01KAXW8H3TQ2YB5N7RZC4D${at + 1000}` }));
    const object = { object: "A_rather_long_name_of_a_custom_object__c" };
    const mappings = many.map((one) => ({ ...one, ...object }));
    return moreText(
      new Map([["ws_01KAXW8H3TQ2YB5N7RZC4D6FGH", { ...report, figures: { mappings, webhooks: [] } }]]),
      new Date(),
    );
  };

  expect(textOf(2500)).toMatch(/^bridge_mappings_left_out\{\} 0$/m);
  expect(textOf(2500).length).toBeLessThan(5_000_000);
  expect(textOf(2501)).toMatch(/^bridge_mappings_left_out\{\} 2501$/m);
  expect(textOf(2501).length).toBeLessThan(2000);
});
