import type { Node } from "constructs";

/** Every option of `cdk deploy -c name=value`, as the table in README.md describes them. */
const OPTIONS = [
  "stage",
  "rateLimitPerMinute",
  "logRetentionDays",
  "deliveryDays",
  "auditDays",
  "tracing",
  "alarmTopicArn",
  "domainName",
  "certificateArn",
  "basePath",
  "subnetIds",
  "securityGroupIds",
  "openedRanges",
  "shield",
  "webAclArn",
  "reservedConcurrency",
  "provisionedConcurrency",
] as const;

/**
 * Context of the CDK itself: feature flags (`@aws-cdk/…`), what its command line tells the app (`aws:cdk:…`,
 * `aws-cdk:…`) and remembers in its files, and answers of lookups (`hosted-zone:account=…`).
 */
const OF_THE_CDK = /^@aws-cdk|^aws:|^aws-cdk:|^cli-telemetry$|^acknowledged-issue-numbers$|^[a-z-]+:.*=/;

/** Throws when the context holds a name that is no option: left unread, `-c stge=prod` would deploy the stage dev. */
export function refuseUnknownOptions(node: Node): void {
  const known: readonly string[] = OPTIONS;
  for (const name of Object.keys(node.getAllContext() as object)) {
    if (known.includes(name) || OF_THE_CDK.test(name)) continue;
    const nearest = OPTIONS.toSorted((one, other) => distance(name, one) - distance(name, other))[0];
    throw new Error(
      `There is no option "${name}": the nearest is -c ${nearest}=. All are: ${OPTIONS.join(", ")}. ` +
        'It stands on the command line, or under "context" in cdk.json, cdk.context.json or ~/.cdk.json',
    );
  }
}

/** Letters to insert, delete or replace to turn one name into the other, whatever their case (Levenshtein). */
function distance(from: string, to: string): number {
  const [one, other] = [from.toLowerCase(), to.toLowerCase()];
  let above = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [row, letter] of [...one].entries()) {
    const line = [row + 1];
    for (const [at, wanted] of [...other].entries()) {
      const replaced = (above[at] ?? 0) + (letter === wanted ? 0 : 1);
      line.push(Math.min(replaced, (above[at + 1] ?? 0) + 1, (line[at] ?? 0) + 1));
    }
    above = line;
  }
  return above.at(-1) ?? 0;
}
