import type { Node } from "constructs";
import { nearest } from "../../model/nearest.ts";

/** Where options are read from: an app's context, or what a construct is given. */
export type Context = Pick<Node, "tryGetContext" | "getAllContext">;

/** Every option of `cdk deploy -c name=value`, as the table in lib/docs/deploy.md describes them. */
export const OPTIONS = [
  "stage",
  "rateLimitPerMinute",
  "logRetentionDays",
  "deliveryDays",
  "auditDays",
  "tracing",
  "accessLog",
  "platformLogs",
  "requestsPerSecond",
  "tags",
  "keyArn",
  "formerKeyArn",
  "alarmTopicArn",
  "alarms",
  "domainName",
  "certificateArn",
  "basePath",
  "subnetIds",
  "securityGroupIds",
  "openedRanges",
  "httpsProxy",
  "shield",
  "webAclArn",
  "reservedConcurrency",
  "provisionedConcurrency",
] as const;

/** Options by name, for the construct; `lib/docs/deploy.md` says what each means. */
export type BridgeOptions = Readonly<Partial<Record<(typeof OPTIONS)[number], string | number | boolean>>>;

/** The same as context of its own: that of the app around it has other meanings. */
export const contextOf = (options: BridgeOptions): Context => ({
  tryGetContext: (name) => options[name as keyof BridgeOptions],
  getAllContext: () => options,
});

/**
 * Context of the CDK itself: feature flags (`@aws-cdk/…`), what its command line passes to the app (`aws:cdk:…`,
 * `aws-cdk:…`) and keeps in its files, and answers of lookups (`hosted-zone:account=…`).
 */
const OF_THE_CDK = /^@aws-cdk|^aws:|^aws-cdk(-private)?:|^cli-telemetry$|^acknowledged-issue-numbers$|^[a-z-]+:.*=/;

/** Throws when the context holds a name that is no option: left unread, `-c stge=prod` would deploy the stage dev. */
export function refuseUnknownOptions(context: Context): void {
  const known: readonly string[] = OPTIONS;
  for (const name of Object.keys(context.getAllContext() as object)) {
    if (known.includes(name) || OF_THE_CDK.test(name)) continue;
    throw new Error(
      `There is no option "${name}": the nearest is -c ${nearest(name, OPTIONS)}=. All are: ${OPTIONS.join(", ")}. ` +
        'It is on the command line, or under "context" in cdk.json, cdk.context.json or ~/.cdk.json',
    );
  }
}
