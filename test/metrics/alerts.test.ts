import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { isWholeGrid } from "../support/run/whole-grid.ts";

const RULES = join(import.meta.dirname, "../../lib/infra/prometheus-rules.yaml");

/** Prometheus' own checker (Debian: `apt-get install prometheus`). */
const hasPromtool = isWholeGrid && spawnSync("promtool", ["--version"]).status === 0;

test.runIf(hasPromtool)("each alert rings for its own reason, at its time, and for nothing else", () => {
  const folder = mkdtempSync(join(tmpdir(), "bridge-alerts-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "alerts.yaml");
  writeFileSync(file, readFileSync(join(import.meta.dirname, "alerts.yaml"), "utf8").replace("RULES", RULES));

  const { status, stdout, stderr } = spawnSync("promtool", ["test", "rules", file], { encoding: "utf8" });

  expect(status, `${stdout}${stderr}`).toBe(0);
});

test("each alert has a case that promtool rings it by", () => {
  const cases = readFileSync(join(import.meta.dirname, "alerts.yaml"), "utf8");
  const rung = [...cases.matchAll(/alertname: (\w+)\n\s+exp_alerts:\n/g)].map(([, name]) => name);
  const alerts = [...readFileSync(RULES, "utf8").matchAll(/- alert: (\w+)/g)].map(([, name]) => name);

  expect(new Set(rung)).toEqual(new Set(alerts));
});
