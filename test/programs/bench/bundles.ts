import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build as esbuild } from "esbuild";
import { ROUTES } from "../../../lib/http/routes.ts";
import { BUNDLES, build } from "../../../lib/infra/build.ts";
import type { Bundle } from "../../../lib/infra/bundle.ts";
import { readOptions } from "../../../lib/local/read-options.ts";

const HELP = `npm run bench:bundles [-- --check] [--json]

Size and import time of every bundle: what a cold start costs beside Lambda's own.

  --check  ends with 1 when an endpoint's bundle is over the limit
  --json   the figures as JSON`;

const options = readOptions(HELP, {
  check: { type: "boolean", default: false },
  json: { type: "boolean", default: false },
});

/**
 * Each import runs in a fresh process, ten times; medians count. The time on the clock depends on the machine and on
 * what else it does, so the limit is set on processor time, compared with that of a known bundle imported alternately with
 * it: the SDK for DynamoDB and SQS, and middy, which took 51 ms on the machine that the limit of 60 ms was set for.
 */
const RUNS = 10;
const MOST_KIBIBYTES = 500;
const MOST_MILLISECONDS = 60;
const KNOWN_MILLISECONDS = 51;
const KNOWN_BUNDLE = `
  export * as dynamodb from "@aws-sdk/lib-dynamodb";
  export { DynamoDBClient } from "@aws-sdk/client-dynamodb";
  export { SQSClient, SendMessageBatchCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
  export { default as middy } from "@middy/core";
  export { default as parser } from "@middy/http-json-body-parser";
`;

interface Measured {
  readonly name: string;
  readonly kibibytes: number;
  /** On the clock of this machine. */
  readonly clockMilliseconds: number;
  /** On the machine that the limit is set for. */
  readonly milliseconds: number;
}

interface Run {
  readonly clock: number;
  readonly processor: number;
}

const known = await buildKnown();
const measured = (await build({ strict: true })).map(measure);
const endpoints = measured.filter(({ name }) => name in ROUTES || name === "no-such-endpoint");
const over = endpoints.filter((bundle) => bundle.kibibytes > MOST_KIBIBYTES || bundle.milliseconds > MOST_MILLISECONDS);
if (options.json) console.log(JSON.stringify({ bundles: measured, over: over.map(({ name }) => name) }, null, 2));
else report();
if (options.check && over.length > 0) process.exitCode = 1;

function report(): void {
  console.log("     size    import   on this clock");
  for (const { name, kibibytes, milliseconds, clockMilliseconds } of measured) {
    console.log(
      `${inUnit(kibibytes, "KiB")} ${inUnit(milliseconds, "ms")} ${inUnit(clockMilliseconds, "ms")}   ${name}`,
    );
  }
  console.log(
    `endpoints: largest ${largest(({ kibibytes }) => kibibytes)} of ${MOST_KIBIBYTES} KiB, ` +
      `slowest ${largest(({ milliseconds }) => milliseconds)} of ${MOST_MILLISECONDS} ms`,
  );
  for (const { name } of over) console.log(`over the limit: ${name}`);
}

function measure({ name, bytes }: Bundle): Measured {
  const file = join(BUNDLES, name, "index.mjs");
  const runs = Array.from({ length: RUNS }, () => ({ known: importOnce(known), bundle: importOnce(file) }));
  return {
    name,
    kibibytes: bytes / 1024,
    clockMilliseconds: median(runs.map(({ bundle }) => bundle.clock)),
    milliseconds:
      (KNOWN_MILLISECONDS * median(runs.map(({ bundle }) => bundle.processor))) /
      median(runs.map((run) => run.known.processor)),
  };
}

/** Bundles what others are compared with, and gives its file. */
async function buildKnown(): Promise<string> {
  const outfile = join(BUNDLES, "../known/index.mjs");
  await esbuild({
    stdin: { contents: KNOWN_BUNDLE, resolveDir: import.meta.dirname },
    outfile,
    bundle: true,
    minify: true,
    platform: "node",
    target: "node24",
    format: "esm",
    mainFields: ["module", "main"],
  });
  return outfile;
}

function importOnce(file: string): Run {
  const url = pathToFileURL(file).href;
  const program = `
    globalThis.awslambda = { streamifyResponse: (handler) => handler }; // asked for while a module is loaded
    const sum = ({ user, system }) => (user + system) / 1000;
    const began = performance.now();
    const before = process.cpuUsage();
    await import(${JSON.stringify(url)});
    const processor = sum(process.cpuUsage(before));
    console.log(JSON.stringify({ clock: performance.now() - began, processor }));
    process.exit();`;
  return JSON.parse(
    execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" }),
  ) as Run;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
}

function largest(of: (bundle: Measured) => number): number {
  return Math.round(Math.max(...endpoints.map(of)));
}

function inUnit(value: number, unit: string): string {
  return `${Math.round(value)} ${unit}`.padStart(9);
}
