import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { readOptions } from "../../../lib/local/read-options.ts";
import { type Deployment, smoke } from "./smoke.ts";

const HELP = `npm run drill:aws [-- --json]

Deploys the stage "drill" into the account of the environment's AWS credentials, asks it what a deployment that is well
answers, and destroys it again with all that it holds, whatever the result. Says so in one line when there are no
credentials. The account has to be bootstrapped for the CDK (npx cdk bootstrap). It takes about 15 minutes and some cents.`;

const PROJECT = resolve(import.meta.dirname, "../../..");
const CDK = join(PROJECT, "node_modules/.bin/cdk");
const STAGE = ["-c", "stage=drill", "--no-notices"];

const options = readOptions(HELP, { json: { type: "boolean" } });

if (hasCredentials(process.env)) await drill();
else
  console.log(
    "drill:aws skipped: set AWS_REGION with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or with AWS_PROFILE, to run it",
  );

function hasCredentials({ AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_PROFILE }: NodeJS.ProcessEnv) {
  return Boolean(AWS_REGION && (AWS_PROFILE || (AWS_ACCESS_KEY_ID && AWS_SECRET_ACCESS_KEY)));
}

async function drill(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "bridge-drill-"));
  const outputs = join(folder, "outputs.json");
  try {
    cdk("deploy", "--all", "--require-approval", "never", "--outputs-file", outputs);
    const steps = await smoke(deploymentOf(outputs));
    if (options.json) console.log(JSON.stringify({ steps }));
    else
      for (const { name, wrong } of steps) console.log(wrong === null ? `ok     ${name}` : `WRONG  ${name}: ${wrong}`);
    if (steps.some(({ wrong }) => wrong !== null)) process.exitCode = 1;
  } finally {
    cdk("destroy", "--all", "--force");
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Shows what the CDK says on stderr: stdout is for the steps. */
function cdk(...args: readonly string[]): void {
  execFileSync(CDK, [...args, ...STAGE], {
    cwd: PROJECT,
    stdio: ["ignore", process.stderr, process.stderr],
    env: { ...process.env, CDK_DISABLE_CLI_TELEMETRY: "true" },
  });
}

/** Where the deployment answers, and a workspace that its operator makes with the same credentials. */
function deploymentOf(outputs: string): Deployment {
  const stacks = Object.values(JSON.parse(readFileSync(outputs, "utf8")) as Record<string, Record<string, string>>);
  const output = (name: string): string => {
    const found = stacks.find((stack) => stack[name] !== undefined)?.[name];
    if (found === undefined) throw new Error(`no stack has an output ${name}`);
    return found;
  };
  const made = JSON.parse(
    execFileSync(
      process.execPath,
      [
        join(PROJECT, "bin/bridge.ts"),
        ..."workspace create Drill --owner drill@example.com --stage drill --json".split(" "),
      ],
      { encoding: "utf8" },
    ),
  ) as { readonly workspace_id: string; readonly token: string };
  return {
    baseUrl: output("BaseUrl").replace(/\/$/, ""),
    metricsUrl: output("MetricsUrl"),
    workspaceId: made.workspace_id,
    token: made.token,
  };
}
