import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { expect, test } from "vitest";

const PROJECT = resolve(import.meta.dirname, "../..");

const run = (args: readonly string[], environment: Readonly<Record<string, string>>) =>
  spawnSync(process.execPath, args, {
    cwd: PROJECT,
    encoding: "utf8",
    // Without cdk on the PATH, nothing that is not refused goes further than this machine.
    env: {
      PATH: "/nonexistent",
      HOME: "/nonexistent",
      TMPDIR: tmpdir(),
      AWS_EC2_METADATA_DISABLED: "true",
      ...environment,
    },
  });

test("an option that there is none of is refused in one line, before anything is built", () => {
  const permitted = ["--permission", "--allow-fs-read=*", `--allow-fs-write=${tmpdir()}`]; // no build can do with these
  const { status, stderr } = run([...permitted, "bin/deploy.ts"], { CDK_CONTEXT_JSON: '{"stge":"prod"}' });

  expect(status).toBe(1);
  expect(stderr).toMatch(/^Refused: There is no option "stge": the nearest is -c stage=/);
  expect(stderr.trim().split("\n")).toHaveLength(1);
});

const KEY = { AWS_ACCESS_KEY_ID: "AKIAEXAMPLE", AWS_SECRET_ACCESS_KEY: "secret" };
const REGION = { AWS_REGION: "eu-central-1" };

test.each([
  ["without a region", KEY, [], "Refused: no region is chosen: set AWS_REGION"],
  ["without credentials", REGION, [], "Refused: no AWS credentials are found: set AWS_PROFILE"],
  ["with a profile that there is none of", REGION, ["--profile=acme"], "Refused: no AWS credentials are found"],
  [
    "where AWS cannot be reached",
    { ...KEY, ...REGION, AWS_ENDPOINT_URL: "http://127.0.0.1:9" },
    [],
    "Refused: AWS does not answer in eu-central-1",
  ],
])("a deployment %s is refused in one line", (_, environment, args, says) => {
  const { status, stderr } = run(["bin/deploy-all.ts", ...args], environment);

  expect(status).toBe(1);
  expect(stderr.trim()).toContain(says);
  expect(stderr.trim().split("\n")).toHaveLength(1);
});
