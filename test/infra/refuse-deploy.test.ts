import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../support/run/temporary-folder.ts";
import { firstInGate } from "../support/run/whole-grid.ts";

const PROJECT = resolve(import.meta.dirname, "../..");

async function run(args: readonly string[], environment: Readonly<Record<string, string>>) {
  const [PATH, HOME] = ["/nonexistent", "/nonexistent"]; // without cdk, nothing that is not refused goes further
  const child = spawn(process.execPath, args, {
    cwd: PROJECT,
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH, HOME, TMPDIR: tmpdir(), AWS_EC2_METADATA_DISABLED: "true", ...environment },
  });
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { status: status as number | null, stdout, stderr };
}

/** A deployment with a cdk that says how it was called. */
const deploy = (environment: Readonly<Record<string, string>>, args: readonly string[] = []) =>
  run(["bin/deploy-all.ts", ...args], { ...CREDENTIALS, PATH: folderOfCdk(), ...environment });

test("an option that there is none of is refused in one line, before anything is built", async () => {
  const permitted = ["--permission", "--allow-fs-read=*", `--allow-fs-write=${tmpdir()}`]; // no build can do with these
  const { status, stderr } = await run([...permitted, "bin/deploy.ts"], { CDK_CONTEXT_JSON: '{"stge":"prod"}' });

  expect(status).toBe(1);
  expect(stderr).toMatch(/^Refused: There is no option "stge": the nearest is -c stage=/);
  expect(stderr.trim().split("\n")).toHaveLength(1);
});

const KEY = { AWS_ACCESS_KEY_ID: "AKIAEXAMPLE", AWS_SECRET_ACCESS_KEY: "secret" };
const REGION = { AWS_REGION: "eu-central-1" };

const UNKNOWN: readonly (readonly [string, Readonly<Record<string, string>>, readonly string[], string])[] = [
  ["without credentials", REGION, [], "Refused: no AWS credentials are found: set AWS_PROFILE"],
  ["without a region", KEY, [], "Refused: no region is chosen: set AWS_REGION"],
  ["with a profile that there is none of", REGION, ["--profile=acme"], "Refused: no AWS credentials are found"],
];

test.each(firstInGate(1, UNKNOWN))("a deployment %s is refused in one line", async (_, environment, args, says) => {
  const { status, stderr } = await run(["bin/deploy-all.ts", ...args], environment);

  expect(status).toBe(1);
  expect(stderr.trim()).toContain(says);
  expect(stderr.trim().split("\n")).toHaveLength(1);
});

const CREDENTIALS = { ...KEY, ...REGION };
const CLOSED = "http://127.0.0.1:9";

/** A profile whose credentials are those of a role, which STS gives out. */
const ROLE = `[profile acme]
role_arn = arn:aws:iam::123456789012:role/deploy
source_profile = user
[profile user]
aws_access_key_id = AKIAEXAMPLE
aws_secret_access_key = secret
`;

const UNASKED: readonly (readonly [string, () => Promise<Readonly<Record<string, string>>>])[] = [
  ["where STS cannot be asked for a role", async () => ({ AWS_ENDPOINT_URL: CLOSED, ...profile(ROLE) })],
  ["where SQS answers 500", async () => ({ AWS_ENDPOINT_URL: await answering(500, saying("InternalError")) })],
  ["where SQS asks for less", async () => ({ AWS_ENDPOINT_URL: await answering(400, saying("RequestThrottled")) })],
  ["at an endpoint for SQS that is not there", async () => ({ AWS_ENDPOINT_URL_SQS: CLOSED })],
  ["behind HTTPS_PROXY", async () => ({ HTTPS_PROXY: CLOSED, AWS_ENDPOINT_URL_SQS: CLOSED })],
  ["without DNS", async () => ({ AWS_ENDPOINT_URL_SQS: "http://aws.invalid" })],
  ["where an endpoint has no SQS", async () => ({ AWS_ENDPOINT_URL: await answering(404, "no such page") })],
  ["where a proxy answers 403", async () => ({ AWS_ENDPOINT_URL: await answering(403, "<html>No</html>") })],
];

test.each(firstInGate(1, UNASKED))("a deployment %s continues with one line of warning", async (_, environment) => {
  const { status, stdout, stderr } = await deploy(await environment());

  expect(status, stderr).toBe(0);
  expect(stderr).toMatch(/^Warning: AWS could not be asked about these credentials in eu-central-1 \(.+\)\n$/);
  expect(stdout).toBe("cdk deploy --all --no-notices\n");
});

test("a deployment by a user who may ask nothing continues, and says what is left unreserved", async () => {
  const { status, stdout, stderr } = await deploy({ AWS_ENDPOINT_URL: await answering(403, saying("AccessDenied")) });

  expect([status, stdout]).toEqual([0, "cdk deploy --all --no-notices\n"]);
  expect(stderr).toMatch(/^Warning: .*add -c reservedConcurrency=read-metrics=5 .*\n$/);
});

const RESERVED = "-c reservedConcurrency=read-metrics=5";
const CHOSEN = "-c reservedConcurrency=run-cycle=50";

const CALLED = "cdk deploy --all --no-notices";

test.each(
  firstInGate(1, [
    ["what the metrics have reserved before is theirs again", 1000, 100, 5, [], `${CALLED} ${RESERVED}`, ""],
    ["of 105 that are free the metrics get five", 1000, 105, 0, [], `${CALLED} ${RESERVED}`, ""],
    ["of 104 none", 1000, 104, 0, [], CALLED, "quota of 1000 concurrent executions"],
    ["of a new account's ten none", 10, 10, 0, [], CALLED, "Request a higher quota from AWS"],
    ["what the operator reserves is left alone", 1000, 1000, 0, CHOSEN.split(" "), `${CALLED} ${CHOSEN}`, ""],
  ] as const),
)("of the account's concurrent executions: %s", async (_, all, free, ours, args, called, warning) => {
  const AccountLimit = { ConcurrentExecutions: all, UnreservedConcurrentExecutions: free };
  const answer = JSON.stringify({ AccountLimit, ...(ours > 0 && { ReservedConcurrentExecutions: ours }) });

  const { status, stdout, stderr } = await deploy({ AWS_ENDPOINT_URL: await answering(200, answer) }, args);

  expect([status, stdout]).toEqual([0, `${called}\n`]);
  expect(stderr).toMatch(warning === "" ? /^$/ : new RegExp(`^Warning: .*${warning}.*\\n$`));
});

const NOT_TAKEN: readonly (readonly [code: string, how: string])[] = [
  ["InvalidClientTokenId", ""],
  ["AccessDenied", "for a role "],
  ["ExpiredTokenException", ""],
  ["SignatureDoesNotMatch", ""],
];

test.each(firstInGate(1, NOT_TAKEN))(
  "a deployment to which AWS says %s %sis refused in one line",
  async (code, how) => {
    const AWS_ENDPOINT_URL = await answering(403, how === "" ? saying(code) : inXml(code));

    const { status, stdout, stderr } = await deploy({ AWS_ENDPOINT_URL, ...(how !== "" && profile(ROLE)) });

    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^Refused: .*credentials.*\n$/);
  },
);

/** The folder of a cdk that says how it was called. */
function folderOfCdk(): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "cdk"), '#!/bin/sh\necho "cdk $*"\n', { mode: 0o755 });
  return folder;
}

function profile(config: string): Record<string, string> {
  const file = join(temporaryFolder(), "config");
  writeFileSync(file, config);
  return { AWS_PROFILE: "acme", AWS_CONFIG_FILE: file, AWS_ACCESS_KEY_ID: "", AWS_SECRET_ACCESS_KEY: "" };
}

const saying = (code: string): string => JSON.stringify({ __type: `com.amazonaws.sqs#${code}`, message: "not now" });

const inXml = (code: string): string =>
  `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>not you</Message></Error></ErrorResponse>`;

/** The address of a server that answers everything so. */
async function answering(status: number, body: string): Promise<string> {
  const server = createServer((_, response) => response.writeHead(status).end(body));
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
