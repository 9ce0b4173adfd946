import { mkdirSync, readFileSync, rmdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type FunctionLog, openFunctionLog } from "../../lib/local/function-log.ts";
import { EVIL, steeringIn } from "../support/doubles/hostile-service.ts";
import { temporaryFolder } from "../support/run/temporary-folder.ts";

function open(dataDir = temporaryFolder()): { log: FunctionLog; shown: string[] } {
  const shown: string[] = [];
  const log = openFunctionLog(dataDir, (line) => shown.push(line));
  onTestFinished(() => log.close());
  return { log, shown };
}

test("what functions print is kept whole, a JSON line each, for its owner alone", () => {
  const { log } = open();

  console.log('{"level":"info","event":"cycle"}');
  console.error("plain words");

  const lines = readFileSync(log.file, "utf8").trim().split("\n");
  const at = expect.any(String);
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { at, level: "info", event: "cycle" },
    { at, message: "plain words" },
  ]);
  expect(statSync(log.file).mode & 0o777).toBe(0o600);
});

test("people see what moved, what failed and what needs attention, and nothing else", () => {
  const { log, shown } = open();

  for (const entry of [
    { level: "info", event: "cycle", sf_object: "Contact", accepted: 2, updated: 1 },
    { level: "info", event: "cycle", sf_object: "Contact" },
    {
      level: "warn",
      event: "budget",
      message: "Salesforce counts 75 of 100 API calls in 24 hours: pulls run less often",
    },
    { level: "info", event: "budget", message: "Salesforce counts 5 of 100 API calls in 24 hours: as configured" },
    { level: "error", event: "function failed", message: "it broke" },
    { level: "warn", event: "messages failed", message: "1 of 3 come back when their visibility ends" },
  ])
    log.write(JSON.stringify(entry));

  expect(shown.map((line) => line.replace(/^ +[\d:]{8} +/, ""))).toEqual([
    "Contact: 2 to Salesforce, 1 from Salesforce",
    "Salesforce counts 75 of 100 API calls in 24 hours: pulls run less often",
    "Salesforce counts 5 of 100 API calls in 24 hours: as configured",
    "function failed: it broke (the log has more)",
    "messages failed: 1 of 3 come back when their visibility ends",
  ]);
});

test("words of an org or a database steer no terminal, in front of npm start or in its log", () => {
  for (const entry of [
    { level: "error", event: "cycle", sf_object: EVIL, message: EVIL },
    { level: "warn", event: "budget", message: EVIL },
    { level: "warn", event: EVIL },
    { level: "info", event: "provisioning", sf_object: EVIL, pg_table: EVIL, state: EVIL },
    { level: "info", event: "provisioning", reason: EVIL },
    { level: "info", event: "cycle", sf_object: EVIL, accepted: 1 },
    { level: "info", event: "load", outcome: "done", sf_object: EVIL, read: 1 },
    { level: "info", event: "deletes held", message: EVIL },
  ]) {
    const { log, shown } = open();

    log.write(JSON.stringify(entry));

    const kept = readFileSync(log.file, "utf8");
    expect([...shown, kept].map(steeringIn), JSON.stringify(entry)).toEqual([null, null]);
    expect(shown[0]).not.toContain("\n");
    expect(JSON.parse(kept)).toEqual({ at: expect.any(String), ...entry });
  }
});

test("a fault's lines stay lines, indented, so that none of them looks like one of the log's own", () => {
  const { log, shown } = open();

  log.write(`Error: ${EVIL}\n    at somewhere`);

  expect(steeringIn(shown[0]?.replaceAll("\n            ", " ") ?? "")).toBeNull();
  expect(shown[0]).toMatch(/\n {12} +at somewhere$/);
  expect(steeringIn(readFileSync(log.file, "utf8"))).toBeNull();
});

test("a log that cannot be written stops no function that prints, and people see that once", () => {
  const dataDir = temporaryFolder();
  mkdirSync(join(dataDir, "bridge.log"));
  const { log, shown } = open(dataDir);

  console.log('{"level":"info","event":"cycle","sf_object":"Contact","accepted":1}');
  console.log('{"level":"info","event":"cycle","sf_object":"Account","accepted":1}');
  rmdirSync(log.file);
  console.log('{"level":"info","event":"cycle"}');

  expect(shown[0]).toContain(`${log.file} cannot be written and misses what happens from now on: EISDIR`);
  expect(shown.slice(1).map((line) => line.slice(12))).toEqual([
    "Contact: 1 to Salesforce",
    "Account: 1 to Salesforce",
  ]);
  expect(readFileSync(log.file, "utf8")).toContain('"event":"cycle"');
});
