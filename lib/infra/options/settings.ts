import { RetentionDays } from "aws-cdk-lib/aws-logs";
import { KEPT_DAYS, readDays } from "../../model/resources.ts";
import { hasProductionRules, STAGE_NAME, STAGE_NAME_IN_WORDS } from "../../model/stage.ts";
import { type Concurrency, readConcurrency } from "./concurrency.ts";
import { type Domain, readDomain } from "./domain-option.ts";
import { type Context, refuseUnknownOptions } from "./names.ts";
import { type Network, readNetwork } from "./network.ts";
import { isOn, listLike, textLike } from "./read.ts";
import { readShield, type Shield } from "./shield-option.ts";

/** What an operator chooses with `-c name=value`, or in `context` of cdk.json. */
export interface Settings {
  /**
   * `-c stage=`: part of every name, so that the stages share an account without meeting. All but `dev` and `drill`
   * have production's rules. What `drill` makes goes with its stacks, data too.
   */
  readonly stage: string;
  /** `-c rateLimitPerMinute=`: requests a minute and source address; by production's rules it is always the contract's 300. */
  readonly rateLimitPerMinute: number | null;
  /** `-c logRetentionDays=`: three months by production's rules, two weeks otherwise, unless given. */
  readonly logRetentionDays: number;
  /** `-c deliveryDays=` and `-c auditDays=`, as variables of the functions; those that are not given are left out. */
  readonly keptDays: Readonly<Record<string, string>>;
  /** `-c tracing=true`: every request and every batch leaves a trace in X-Ray. */
  readonly tracing: boolean;
  /** `-c accessLog=true`: the gateway writes a line for each request. */
  readonly accessLog: boolean;
  /** `-c platformLogs=true`: Lambda's own line at the start and end of each call, which costs more than all others. */
  readonly platformLogs: boolean;
  /** `-c requestsPerSecond=`: the gateway refuses what is above, for all addresses together. */
  readonly requestsPerSecond: number;
  /** `-c tags=Owner=ops,…`: on everything that can have tags. */
  readonly tags: ReadonlyMap<string, string>;
  /** `-c keyArn=`: a KMS key of the operator's own; null: the deployment makes one. */
  readonly keyArn: string | null;
  /** `-c formerKeyArn=`: the key before it, which still opens what `bridge operator reseal` has not sealed again. */
  readonly formerKeyArn: string | null;
  /** `-c alarmTopicArn=`: the SNS topic that alarms notify; without one (in prod `-c alarms=none`) CloudWatch alone shows them. */
  readonly alarmTopicArn: string | null;
  readonly domain: Domain | null;
  readonly network: Network | null;
  readonly shield: Shield | null;
  readonly concurrency: Concurrency;
}

const TOPIC = /^arn:[^:]+:sns:[^:]+:\d{12}:.+$/;

const KEY = /^arn:[^:]+:kms:[^:]+:\d{12}:key\/.+$/;

const TAG = /^[\w .:/@+-]{1,128}=[\w .:/@+-]{0,256}$/;

/** Reads the settings from the app's context; throws with the remedy when one makes no sense. */
export function readSettings(context: Context): Settings {
  refuseUnknownOptions(context);
  const stage = textLike(context, "stage", STAGE_NAME, STAGE_NAME_IN_WORDS) ?? "dev";
  return {
    stage,
    rateLimitPerMinute: rateLimitOf(stage, context),
    logRetentionDays: retentionOf(context.tryGetContext("logRetentionDays") ?? (hasProductionRules(stage) ? 90 : 14)),
    keptDays: keptDaysOf(context),
    tracing: isOn(context, "tracing"),
    accessLog: isOn(context, "accessLog"),
    platformLogs: isOn(context, "platformLogs"),
    requestsPerSecond: numberOf(context, "requestsPerSecond", 1000),
    tags: tagsOf(context),
    keyArn: textLike(context, "keyArn", KEY, "the ARN of a KMS key"),
    formerKeyArn: textLike(context, "formerKeyArn", KEY, "the ARN of a KMS key"),
    alarmTopicArn: topicOf(stage, context),
    domain: readDomain(context),
    network: readNetwork(context),
    shield: readShield(context),
    concurrency: readConcurrency(context),
  };
}

function topicOf(stage: Settings["stage"], context: Context): string | null {
  const topic = textLike(context, "alarmTopicArn", TOPIC, "the ARN of an SNS topic");
  const none = textLike(context, "alarms", /^none$/, "none, where no person gets a notification");
  if (topic !== null && none !== null) throw new Error("alarms=none and alarmTopicArn exclude each other");
  if (!hasProductionRules(stage) || topic !== null || none !== null) return topic;
  throw new Error(
    `The alarms of ${stage} notify no person: say -c alarmTopicArn=, the SNS topic that they notify, or -c alarms=none`,
  );
}

/** CloudWatch keeps logs for certain numbers of days only. */
function retentionOf(asked: unknown): number {
  const days = Number(asked);
  if (Object.values(RetentionDays).includes(days)) return days;
  throw new Error(
    `logRetentionDays must be one of CloudWatch's (1, 3, 5, 7, 14, 30, 60, 90 …), not "${String(asked)}"`,
  );
}

function keptDaysOf(context: Context): Settings["keptDays"] {
  const given = Object.entries(KEPT_DAYS).map(([name, { variable }]) => [name, variable, context.tryGetContext(name)]);
  return Object.fromEntries(
    given.flatMap(([name, variable, days]) => (days === undefined ? [] : [[variable, String(readDays(name, days))]])),
  );
}

function rateLimitOf(stage: string, context: Context): number | null {
  if (!hasProductionRules(stage)) return numberOf(context, "rateLimitPerMinute", 300);
  if (context.tryGetContext("rateLimitPerMinute") === undefined) return null;
  throw new Error(`The rate limit of ${stage} is the contract's 300 a minute: leave rateLimitPerMinute out`);
}

function numberOf(context: Context, name: string, unset: number): number {
  const asked: unknown = context.tryGetContext(name) ?? unset;
  const number = Number(asked);
  if (Number.isInteger(number) && number > 0) return number;
  throw new Error(`${name} must be a whole number above 0, not "${String(asked)}"`);
}

function tagsOf(context: Context): Settings["tags"] {
  const tags = listLike(context, "tags", TAG, "tags, each Name=value") ?? [];
  return new Map(tags.map((tag) => [tag.slice(0, tag.indexOf("=")), tag.slice(tag.indexOf("=") + 1)]));
}

/** A physical name: `bridge-dev-run-cycle`, so that operators and the command line find things without a lookup. */
export const nameIn = (stage: Settings["stage"], name: string): string => `bridge-${stage}-${kebab(name)}`;

/** `rateLimits` as `rate-limits`, and `RateLimits` for a construct's id. */
const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** A construct's id: `run-cycle` and `runCycle` as `RunCycle`. */
export const idOf = (name: string): string => name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
