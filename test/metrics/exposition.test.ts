import { expect, test } from "vitest";
import { metricsText } from "../../lib/metrics/scrape.ts";
import { parseExposition } from "../support/checks/parse-exposition.ts";

const totals = (workspaceId: string, sfObject: string, mappingId: string, more = {}) => ({
  workspaceId,
  mappingId,
  sfObject,
  rowsSynced: 0,
  rowsFailed: 0,
  apiCalls: {},
  ...more,
});

test("the four metrics are told as the contract names them, zero series included", () => {
  const text = metricsText({
    totals: [
      totals("ws_b", "Contact", "m1", { rowsSynced: 5, rowsFailed: 1, apiCalls: { SOAP: 3, REST: 2 } }),
      totals("ws_a", "Account", "m2"),
    ],
    depths: [{ workspaceId: "ws_b", rows: 7 }],
    calls: [{ workspaceId: "ws_b", apiCalls: { REST: 4 } }],
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
      "",
    ].join("\n"),
  );
});

test("no series stands there twice: mappings of one object, the deleted ones too, are one", () => {
  const text = metricsText({
    totals: [
      totals("ws_a", "Contact", "m1", { rowsSynced: 5, apiCalls: { SOAP: 1 } }),
      totals("ws_a", "Contact", "m2", { rowsSynced: 2, apiCalls: { SOAP: 4 } }),
    ],
    depths: [],
    calls: [],
  });

  const series = parseExposition(text).flatMap(({ samples }) => samples);
  expect(series).toContainEqual({
    name: "bridge_sync_rows_total",
    labels: { workspace_id: "ws_a", object: "Contact" },
    value: 7,
  });
  expect(series).toContainEqual({
    name: "bridge_sf_api_calls_total",
    labels: { workspace_id: "ws_a", api: "SOAP" },
    value: 5,
  });
  expect(new Set(series.map(({ name, labels }) => JSON.stringify([name, labels]))).size).toBe(series.length);
});

test("hostile names come back from an independent parser as they were", () => {
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
  const text = metricsText({ totals: names.map((name, at) => totals(name, name, `m${at}`)), depths: [], calls: [] });

  const [rows] = parseExposition(text);
  expect(rows?.samples.map(({ labels }) => labels["object"]).toSorted()).toEqual(names.toSorted());
  expect(rows?.samples.every(({ labels }) => labels["workspace_id"] === labels["object"])).toBe(true);
});

test("without any workspace the metrics are described all the same", () => {
  expect(
    parseExposition(metricsText({ totals: [], depths: [], calls: [] })).map(({ name, type }) => [name, type]),
  ).toEqual([
    ["bridge_sync_rows_total", "counter"],
    ["bridge_sync_errors_total", "counter"],
    ["bridge_trigger_log_queue_depth", "gauge"],
    ["bridge_sf_api_calls_total", "counter"],
  ]);
});
