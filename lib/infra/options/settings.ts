import { RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Node } from "constructs";
import { KEPT_DAYS, readDays } from "../../model/resources.ts";
import { type Concurrency, readConcurrency } from "./concurrency.ts";
import { type Domain, readDomain } from "./domain-option.ts";
import { refuseUnknownOptions } from "./names.ts";
import { type Network, readNetwork } from "./network.ts";
import { isOn, textLike } from "./read.ts";
import { readShield, type Shield } from "./shield-option.ts";

/** What an operator chooses with `-c name=value`, or in `context` of cdk.json. */
export interface Settings {
  /**
   * `-c stage=`: part of every name, so that the stages share an account without meeting. What `drill` makes goes with
   * its stacks, data too.
   */
  readonly stage: "dev" | "prod" | "drill";
  /** `-c rateLimitPerMinute=`: requests a minute and source address; in prod it is always the contract's 300. */
  readonly rateLimitPerMinute: number | null;
  /** `-c logRetentionDays=`: three months in prod, two weeks in dev, unless given. */
  readonly logRetentionDays: number;
  /** `-c deliveryDays=` and `-c auditDays=`, as variables of the functions; those that are not given are left out. */
  readonly keptDays: Readonly<Record<string, string>>;
  /** `-c tracing=true`: every request and every batch leaves a trace in X-Ray. */
  readonly tracing: boolean;
  /** `-c alarmTopicArn=`: the SNS topic that alarms notify; without one (in prod `-c alarms=none`) CloudWatch alone shows them. */
  readonly alarmTopicArn: string | null;
  readonly domain: Domain | null;
  readonly network: Network | null;
  readonly shield: Shield | null;
  readonly concurrency: Concurrency;
}

const TOPIC = /^arn:[^:]+:sns:[^:]+:\d{12}:.+$/;

const STAGES = ["dev", "prod", "drill"] as const;

/** Reads the settings from the app's context; throws with the remedy when one makes no sense. */
export function readSettings(node: Node): Settings {
  refuseUnknownOptions(node);
  const asked = String(node.tryGetContext("stage") ?? "dev");
  const stage = STAGES.find((known) => known === asked);
  if (stage === undefined) throw new Error(`There is no stage "${asked}": say -c stage=dev or -c stage=prod`);
  return {
    stage,
    rateLimitPerMinute: rateLimitOf(stage, node.tryGetContext("rateLimitPerMinute")),
    logRetentionDays: retentionOf(node.tryGetContext("logRetentionDays") ?? (stage === "prod" ? 90 : 14)),
    keptDays: keptDaysOf(node),
    tracing: isOn(node, "tracing"),
    alarmTopicArn: topicOf(stage, node),
    domain: readDomain(node),
    network: readNetwork(node),
    shield: readShield(node),
    concurrency: readConcurrency(node),
  };
}

function topicOf(stage: Settings["stage"], node: Node): string | null {
  const topic = textLike(node, "alarmTopicArn", TOPIC, "the ARN of an SNS topic");
  const none = textLike(node, "alarms", /^none$/, "none, where no person gets a notification");
  if (topic !== null && none !== null) throw new Error("alarms=none and alarmTopicArn exclude each other");
  if (stage !== "prod" || topic !== null || none !== null) return topic;
  throw new Error(
    "The alarms of prod notify no person: say -c alarmTopicArn=, the SNS topic that they notify, or -c alarms=none",
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

function keptDaysOf(node: Node): Settings["keptDays"] {
  const given = Object.entries(KEPT_DAYS).map(([name, { variable }]) => [name, variable, node.tryGetContext(name)]);
  return Object.fromEntries(
    given.flatMap(([name, variable, days]) => (days === undefined ? [] : [[variable, String(readDays(name, days))]])),
  );
}

function rateLimitOf(stage: Settings["stage"], asked: unknown): number | null {
  if (stage === "prod") {
    if (asked === undefined) return null;
    throw new Error("The rate limit of prod is the contract's 300 a minute: leave rateLimitPerMinute out");
  }
  const limit = Number(asked ?? 300);
  if (Number.isInteger(limit) && limit > 0) return limit;
  throw new Error(`rateLimitPerMinute must be a whole number above 0, not "${String(asked)}"`);
}

/** A physical name: `bridge-dev-run-cycle`, so that operators and the command line find things without a lookup. */
export const nameIn = (stage: Settings["stage"], name: string): string => `bridge-${stage}-${kebab(name)}`;

/** `rateLimits` as `rate-limits`, and `RateLimits` for a construct's id. */
const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** A construct's id: `run-cycle` and `runCycle` as `RunCycle`. */
export const idOf = (name: string): string => name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
