import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { GetAccountSettingsCommand, GetFunctionConcurrencyCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { ListQueuesCommand, SQSClient } from "@aws-sdk/client-sqs";

const HELP = `npm run deploy [-- OPTIONS]: checks region and credentials, builds, and deploys all stacks.

  -c NAME=VALUE     an option of Bridge, as -c stage=prod; all are in lib/docs/deploy.md
  --profile NAME    a profile of ~/.aws; else AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY
  --help

Everything else goes to "cdk deploy --all" as it is, for example --require-approval never, --hotswap or --json.`;

/** What AWS says of credentials that are not, or no longer, right. */
const NOT_VALID =
  /InvalidClientTokenId|UnrecognizedClient|SignatureDoesNotMatch|InvalidSignature|ExpiredToken|InvalidAccessKeyId/;

/** What the network says, and not AWS: the CDK may have a way, as a proxy is, that these questions do not take. */
const NO_ANSWER = /ENOTFOUND|EAI_AGAIN|ECONN|UNREACH|ETIMEDOUT|EPROTO|Timeout|timed out|socket|certificate/i;

/** Why nothing can be deployed with this environment, with the remedy; null: nothing certain speaks against it. */
async function refuseAccount(): Promise<string | null> {
  const client = new SQSClient({ maxAttempts: 2, requestHandler: { connectionTimeout: 5000, requestTimeout: 10_000 } });
  const region = await client.config.region().catch(() => null);
  if (!region) return "no region is chosen: set AWS_REGION, or a region in the profile of AWS_PROFILE";
  let isFound = false;
  try {
    await client.config.credentials();
    isFound = true;
    await client.send(new ListQueuesCommand({ MaxResults: 1 }));
  } catch (error) {
    const { name, message, code = name } = error as Error & { readonly code?: string };
    const [words = ""] = (message || code).split("\n");
    if (NOT_VALID.test(name)) return `AWS does not take these credentials: ${words} (${name})`;
    if (!isFound && !NO_ANSWER.test(`${name} ${code} ${message}`))
      return `no AWS credentials are found: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (${words})`;
    // A user who may deploy need not be allowed to list queues.
    if (!/AccessDenied/.test(name))
      console.error(`Warning: AWS could not be asked about these credentials in ${region} (${words})`);
  }
  return null;
}

/** The function behind the metrics URL, which asks for no token: its concurrent executions, and what Lambda keeps unreserved. */
const METRICS = "read-metrics";
const FOR_METRICS = 5;
const UNRESERVED = 100;

/** What keeps a flood of requests for metrics from taking all functions' concurrency, where the quota leaves it. */
async function reservation(args: readonly string[]): Promise<readonly string[]> {
  const kept = readFileSync("cdk.json", "utf8");
  if ([...args, kept].some((text) => /reservedConcurrency|read-metrics/.test(text))) return [];
  const client = new LambdaClient({
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 5000, requestTimeout: 10_000 },
  });
  const { AccountLimit } = await client.send(new GetAccountSettingsCommand({})).catch(({ name }: Error) => {
    if (/AccessDenied/.test(name))
      console.error(
        `Warning: these credentials may not ask how much concurrency is free, so none is reserved for the metrics. Allow lambda:GetAccountSettings, or add -c reservedConcurrency=${METRICS}=${FOR_METRICS} where the quota leaves it`,
      );
    return { AccountLimit: undefined };
  });
  if (AccountLimit?.UnreservedConcurrentExecutions === undefined) return [];
  const stage = /"?stage"?\s*[=:]\s*"?([a-z0-9]+)/.exec([...args, kept].join(" "))?.[1] ?? "dev";
  const asked = new GetFunctionConcurrencyCommand({ FunctionName: `bridge-${stage}-${METRICS}` });
  const own = await client.send(asked).catch(() => null); // the first deployment has none
  const free = AccountLimit.UnreservedConcurrentExecutions + (own?.ReservedConcurrentExecutions ?? 0);
  if (free >= UNRESERVED + FOR_METRICS) return ["-c", `reservedConcurrency=${METRICS}=${FOR_METRICS}`];
  const quota = AccountLimit.ConcurrentExecutions;
  console.error(
    `Warning: the account's quota of ${quota} concurrent executions leaves none to reserve: a flood of requests for the metrics can take all of it. Request a higher quota from AWS`,
  );
  return [];
}

const args = process.argv.slice(2);
const { values } = parseArgs({
  args,
  options: { help: { type: "boolean" }, profile: { type: "string" } },
  strict: false,
});
if (values.help) console.log(HELP);
else {
  if (typeof values.profile === "string") process.env["AWS_PROFILE"] = values.profile;
  const refusal = await refuseAccount();
  if (refusal !== null) console.error(`Refused: ${refusal}`);
  const reserved = refusal === null ? await reservation(args) : [];
  const cdk = ["deploy", "--all", "--no-notices", ...reserved, ...args];
  const env = { ...process.env, BRIDGE_STRICT: "1" };
  process.exitCode = refusal === null ? (spawnSync("cdk", cdk, { stdio: "inherit", env }).status ?? 1) : 1;
}
