import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { DefaultStackSynthesizer, type IReusableStackSynthesizer } from "aws-cdk-lib";
import { type Zippable, zipSync } from "fflate";
import { addStacks } from "../bridge.ts";
import { BUNDLES, build } from "../build.ts";
import { openApp } from "../options/open-app.ts";
import { packConstruct } from "./pack-construct.ts";

const HELP = `npm run release [-- --out dist/release] [-c NAME=VALUE …]

Writes one folder from which Bridge is deployed with "aws cloudformation" alone: templates, zips, checksums, a CycloneDX
SBOM, and a package with the construct. The options are those of lib/docs/deploy.md; the stage is prod unless given.
Bucket and topic of the alarms are parameters of the templates.`;

const PROJECT = resolve(import.meta.dirname, "../../..");

/** Placeholders in the synthesized templates of what a deployment says by parameters. */
const BUCKET = "bridge-release-assets";
const TOPIC = "arn:aws:sns:us-east-1:000000000000:bridge-release-topic";

const PARAMETERS = {
  AssetsBucket: { Type: "String", Description: "The S3 bucket, in this region, that has the zips of the release" },
  AlarmTopicArn: { Type: "String", Description: "The SNS topic that the alarms notify" },
};

const { values } = parseArgs({
  options: {
    context: { type: "string", short: "c", multiple: true, default: [] },
    out: { type: "string", default: join(PROJECT, "dist/release") },
    help: { type: "boolean" },
  },
});
function pairOf(text: string): readonly [string, string] {
  return [text.slice(0, text.indexOf("=")), text.slice(text.indexOf("=") + 1)];
}

async function release(out: string, options: Readonly<Record<string, string>>): Promise<void> {
  await build({ strict: true });
  const assembly = mkdtempSync(join(tmpdir(), "bridge-release-"));
  rmSync(out, { recursive: true, force: true });
  try {
    const stage = options["stage"] ?? "prod";
    const topic = options["alarms"] === "none" ? {} : { alarmTopicArn: TOPIC };
    // The CDK's classes keep its interfaces, but do not say so as strictly as this project compiles.
    const synthesizer = new DefaultStackSynthesizer({
      fileAssetsBucketName: BUCKET,
      generateBootstrapVersionRule: false,
    }) as IReusableStackSynthesizer;
    const app = openApp({ outdir: assembly, context: { stage, ...topic, ...options }, synthesizer });
    const stacks = addStacks(app, BUNDLES).map(({ stackName }) => stackName);
    app.synth();
    for (const name of stacks) {
      writeTemplate(assembly, out, name);
      for (const [key, folder] of bundlesOf(assembly, name)) writeFile(join(out, "functions", key), zip(folder));
    }
    writeFile(join(out, "sbom.cdx.json"), said("npm", ["sbom", "--sbom-format", "cyclonedx"]));
    await packConstruct(out);
    cpSync(join(PROJECT, "LICENSE"), join(out, "LICENSE"));
    writeFile(join(out, "deploy.sh"), deployScript(stacks));
    writeFile(join(out, "SHA256SUMS"), checksumsOf(out));
  } finally {
    rmSync(assembly, { recursive: true, force: true });
  }
  console.log(`${relative(process.cwd(), out)}: ${globSync("**/*.*", { cwd: out }).length} files`);
}

/** The template as the CDK wrote it, with parameters in the places of bucket and topic. */
function writeTemplate(assembly: string, out: string, name: string): void {
  const written = readFileSync(join(assembly, `${name}.template.json`), "utf8");
  const used = { AssetsBucket: written.includes(BUCKET), AlarmTopicArn: written.includes(TOPIC) };
  const text = [
    ["AssetsBucket", BUCKET],
    ["AlarmTopicArn", TOPIC],
  ].reduce((now, [parameter = "", value]) => now.replaceAll(`"${value}"`, JSON.stringify({ Ref: parameter })), written);
  const template = JSON.parse(text) as Record<string, unknown>;
  const Parameters = Object.fromEntries(
    Object.entries(PARAMETERS).filter(([parameter]) => used[parameter as keyof typeof used]),
  );
  const whole = {
    AWSTemplateFormatVersion: "2010-09-09",
    ...template,
    ...(Object.keys(Parameters).length > 0 && { Parameters }),
  };
  writeFile(join(out, "templates", `${name}.json`), `${JSON.stringify(whole, null, 1)}\n`);
}

interface AssetManifest {
  readonly files: Readonly<
    Record<
      string,
      {
        readonly source: { readonly path: string; readonly packaging: string };
        readonly destinations: Readonly<Record<string, { readonly objectKey: string }>>;
      }
    >
  >;
}

/** The folders of a stack's functions, by the name that its template gives their zip. */
function bundlesOf(assembly: string, name: string): readonly (readonly [string, string])[] {
  const { files } = JSON.parse(readFileSync(join(assembly, `${name}.assets.json`), "utf8")) as AssetManifest;
  const zipped = Object.values(files).filter(({ source }) => source.packaging === "zip");
  return zipped.flatMap(({ source, destinations }) =>
    Object.values(destinations).map(({ objectKey }) => [objectKey, join(assembly, source.path)] as const),
  );
}

/** The same bytes from the same files: Lambda takes a zip of other bytes for new code. */
function zip(folder: string): Uint8Array {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).sort();
  const attributes = { os: 3, attrs: 0o100644 << 16, mtime: new Date(1980, 0, 1), level: 9 } as const;
  const entries = paths.map((path) => [relative(folder, path), [readFileSync(path), attributes]]);
  return zipSync(Object.fromEntries(entries) as Zippable);
}

function said(program: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: PROJECT, encoding: "utf8", maxBuffer: 2 ** 26 });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed: ${stderr}`);
  return stdout;
}

const deployScript = (stacks: readonly string[]): string => `#!/bin/sh
# sh deploy.sh BUCKET [TOPIC-ARN]: deploys this release, or the change to it, with the region and credentials of the
# AWS CLI. BUCKET is an S3 bucket in this region, TOPIC-ARN the SNS topic that the alarms notify.
set -eu
cd "$(dirname "$0")"
aws s3 sync functions "s3://$1" --size-only --only-show-errors
for stack in ${stacks.join(" ")}; do
  aws cloudformation deploy --stack-name "$stack" --template-file "templates/$stack.json" --s3-bucket "$1" \\
    --capabilities CAPABILITY_IAM --no-fail-on-empty-changeset \\
    --parameter-overrides "AssetsBucket=$1" "AlarmTopicArn=\${2:-}"
done
`;

/** As `sha256sum --check` reads them. */
const checksumsOf = (out: string): string =>
  globSync("**/*", { cwd: out, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(out, join(parentPath, name)))
    .sort()
    .map(
      (path) =>
        `${createHash("sha256")
          .update(readFileSync(join(out, path)))
          .digest("hex")}  ${path}\n`,
    )
    .join("");

function writeFile(path: string, contents: string | Uint8Array): void {
  mkdirSync(resolve(path, ".."), { recursive: true });
  writeFileSync(path, contents);
}

if (values.help) console.log(HELP);
else await release(values.out, Object.fromEntries(values.context.map(pairOf)));
