import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build as esbuild } from "esbuild";
import { ROUTES } from "../../../lib/http/routes.ts";
import { BUNDLES, build } from "../../../lib/infra/build.ts";
import { readOptions } from "../../../lib/local/read-options.ts";
import { type Figure, median, report } from "./figures.ts";

const HELP = `npm run bench:bundles [-- --check] [--json]

Size and import time of every bundle: what a cold start costs beside Lambda's own.

  --check  ends with 1 when an endpoint's bundle is over the limit
  --json   the figures as JSON`;

const options = readOptions(HELP, { check: { type: "boolean" }, json: { type: "boolean", default: false } });

/**
 * Each import runs in a fresh process, ten times; medians count. The time on the clock depends on the machine and on
 * what else it does, so the limit is set on processor time, compared with that of a known bundle imported alternately with
 * it: the SDK for DynamoDB and SQS, and middy, which took 51 ms on the machine that the limit of 60 ms was set for.
 */
const RUNS = 10;
const MOST = { kibibytes: 500, milliseconds: 60 };
const KNOWN_MILLISECONDS = 51;
const KNOWN_BUNDLE = `
  export * as dynamodb from "@aws-sdk/lib-dynamodb";
  export { DynamoDBClient } from "@aws-sdk/client-dynamodb";
  export { SQSClient, SendMessageBatchCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
  export { default as middy } from "@middy/core";
  export { default as parser } from "@middy/http-json-body-parser";
`;

const known = await buildKnown();
const figures = (await build({ strict: true })).flatMap(({ name, bytes }): Figure[] => {
  const isLimited = name in ROUTES || name === "no-such-endpoint";
  const milliseconds = importTime(join(BUNDLES, name, "index.mjs"));
  return [
    { name, value: bytes / 1024, unit: "KiB", ...(isLimited && { atMost: MOST.kibibytes }) },
    { name: "  import", value: milliseconds, unit: "ms", ...(isLimited && { atMost: MOST.milliseconds }) },
  ];
});
report(figures, options);
if (!options.check) process.exitCode = 0;

/** On the machine that the limit is set for. */
function importTime(file: string): number {
  const runs = Array.from({ length: RUNS }, () => ({ known: importOnce(known), bundle: importOnce(file) }));
  return (KNOWN_MILLISECONDS * median(runs.map((run) => run.bundle))) / median(runs.map((run) => run.known));
}

/** Bundles what others are compared with, and gives its file. */
async function buildKnown(): Promise<string> {
  const outfile = join(BUNDLES, "../known/index.mjs");
  await esbuild({
    stdin: { contents: KNOWN_BUNDLE, resolveDir: import.meta.dirname },
    ...{ outfile, bundle: true, minify: true, platform: "node", target: "node24", format: "esm" },
    mainFields: ["module", "main"],
  });
  return outfile;
}

/** Processor time of one import, in milliseconds. */
function importOnce(file: string): number {
  const program = `
    globalThis.awslambda = { streamifyResponse: (handler) => handler }; // asked for while a module is loaded
    const before = process.cpuUsage();
    await import(${JSON.stringify(pathToFileURL(file).href)});
    const { user, system } = process.cpuUsage(before);
    console.log((user + system) / 1000);
    process.exit();`;
  return Number(execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" }));
}
