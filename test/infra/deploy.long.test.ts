import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { hasMoto, startAws } from "../support/processes/aws.ts";
import { temporaryFolder } from "../support/run/temporary-folder.ts";
import { STACKS, TOPIC } from "./assembly.ts";
import { typed } from "./typed.ts";

const MODULES = resolve(import.meta.dirname, "../../node_modules");
const BUCKET = "releases-of-acme";

/** One release for all tests, which the first makes. */
const release = mkdtempSync(join(tmpdir(), "bridge-release-"));
beforeEach(() => expect(hasMoto(), "these tests need moto_server: pip install 'moto[server]'").toBe(true));
afterAll(() => rmSync(release, { recursive: true, force: true }));

// Moto has no model of gateway responses, API stages, function URLs, queue policies, alarms and schedules in a stack:
// it leaves them out, as it says of each. That they are right is the business of the tests of the templates.
test("an account is prepared, Bridge deployed, deployed again without a difference, and removed", async () => {
  await using aws = await startAws();
  const output = temporaryFolder();
  const names = STACKS.map((name) => `Bridge-dev-${name}`).sort();
  const shell = (command: string) => typed(`${command} --output ${output}`, aws.environment);

  const bootstrapped = await shell("npx cdk bootstrap --no-notices");
  const first = await shell("npm run deploy -- --require-approval never");
  const stacks = stacksIn(await aws.cloudFormation("DescribeStacks"));
  const second = await shell("npm run deploy -- --require-approval never");
  const destroyed = await shell("npx cdk destroy --all --force -c stage=dev --no-notices");
  const left = stacksIn(await aws.cloudFormation("DescribeStacks"));

  expect(bootstrapped.status, bootstrapped.stderr).toBe(0);
  expect(first.status, first.stderr).toBe(0);
  expect(stacks).toEqual([...names, "CDKToolkit"].sort());
  expect(first.stderr).not.toContain("(no changes)");
  expect(second.status, second.stderr).toBe(0);
  expect([...second.stderr.matchAll(/(\S+) \(no changes\)/g)].map(([, name]) => name).sort()).toEqual(names);
  expect(destroyed.status, destroyed.stderr).toBe(0);
  expect(left).toEqual(["CDKToolkit"]);
});

function stacksIn(xml: string): string[] {
  const found = xml.matchAll(/<StackName>([^<]+)<\/StackName>.*?<StackStatus>(?:CREATE|UPDATE)_COMPLETE</gs);
  return [...found].map(([, name = ""]) => name).sort();
}

test("a release is whole, and its checksums hold", async () => {
  const made = await typed(`npm run release -- --out ${release} -c stage=staging`);

  const { status, stdout } = await typed(`cd ${release} && sha256sum --check --strict SHA256SUMS`);

  expect(made.status, made.stderr).toBe(0);
  expect(status).toBe(0);
  expect(stdout).not.toContain("FAILED");
  expect(readdirSync(release).filter((name) => name !== "functions")).toEqual(
    ["LICENSE", "SHA256SUMS", "bridge-sync-cdk-0.3.1.tgz", "deploy.sh", "sbom.cdx.json", "templates"].sort(),
  );
  expect(readdirSync(join(release, "functions")).length).toBeGreaterThan(90);
});

test("it is deployed with aws cloudformation alone, and deployed again without a difference", async () => {
  await using aws = await startAws();
  await typed(`aws s3 mb s3://${BUCKET}`, aws.environment);

  const first = await typed(`sh ${release}/deploy.sh ${BUCKET} ${TOPIC}`, aws.environment);
  const stacks = await aws.cloudFormation("DescribeStacks");
  const second = await typed(`sh ${release}/deploy.sh ${BUCKET} ${TOPIC}`, {
    ...aws.environment,
    PATH: `${withEmptyChangeSets()}:${process.env["PATH"]}`,
  });

  expect(first.status, first.stderr).toBe(0);
  for (const name of STACKS) expect(stacks).toMatch(new RegExp(`<StackName>Bridge-staging-${name}</StackName>`));
  // The emulator calls a stack updated whose change set it carries out after its creation.
  const states = stacks.match(/(?<=<StackStatus>)\w+/g) ?? [];
  expect(states).toEqual(STACKS.map(() => expect.stringMatching(/^(CREATE|UPDATE)_COMPLETE$/)));
  expect(second.status, second.stderr).toBe(0);
  expect(second.stdout.match(/No changes to deploy/g)).toHaveLength(STACKS.length);
});

/** An `aws` for which a change set without a change is an empty one, as AWS has it; the emulator refuses to create it. */
function withEmptyChangeSets(): string {
  const folder = temporaryFolder();
  const script = `#!/bin/sh
said=$(PATH="$REAL_PATH" aws "$@" 2>&1) && { echo "$said"; exit 0; }
case "$said" in *"(ValidationError)"*"No updates are"*) echo "No changes to deploy. $*"; exit 0;; esac
echo "$said" >&2
exit 1
`.replace("$REAL_PATH", process.env["PATH"] ?? "");
  writeFileSync(join(folder, "aws"), script, { mode: 0o755 });
  return folder;
}

test("a stranger deploys the construct in ten lines", async () => {
  await using aws = await startAws();
  const folder = temporaryFolder();
  mkdirSync(join(folder, "node_modules/@bridge-sync/cdk"), { recursive: true });
  for (const peer of ["aws-cdk-lib", "constructs", "@aws-cdk"])
    symlinkSync(join(MODULES, peer), join(folder, "node_modules", peer), "dir");
  const unpacked = await typed(
    `tar -xzf ${release}/*.tgz --strip-components 1 -C ${folder}/node_modules/@bridge-sync/cdk`,
  );
  writeFileSync(
    join(folder, "app.mjs"),
    `import { App } from "aws-cdk-lib";
import { Bridge } from "@bridge-sync/cdk";

const app = new App();
new Bridge(app, "Sync", { stage: "staging", alarmTopicArn: "${TOPIC}" });
`,
  );

  const bootstrapped = await typed("npx cdk bootstrap --no-notices", aws.environment);
  const node = `${MODULES}/.bin/node --preserve-symlinks --preserve-symlinks-main`;
  const deployed = await typed(
    `cd ${folder} && ${MODULES}/.bin/cdk deploy '**' --require-approval never --no-notices --app '${node} app.mjs'`,
    aws.environment,
  );
  const stacks = await aws.cloudFormation("DescribeStacks");

  expect(unpacked.status, unpacked.stderr).toBe(0);
  expect(bootstrapped.status, bootstrapped.stderr).toBe(0);
  expect(deployed.status, deployed.stderr).toBe(0);
  for (const name of STACKS) expect(stacks).toMatch(new RegExp(`<StackName>Bridge-staging-${name}</StackName>`));
});
