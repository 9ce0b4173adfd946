import type { Node } from "constructs";

/** What an operator chooses with `-c name=value`, or in `context` of cdk.json. */
export interface Settings {
  /** `-c stage=`: part of every name, so that the stages share an account without meeting. */
  readonly stage: "dev" | "prod";
  /** `-c rateLimitPerMinute=`: requests a minute and source address; in prod it is always the spec's 300. */
  readonly rateLimitPerMinute: number | null;
}

const STAGES = ["dev", "prod"] as const;

/** Reads the settings from the app's context; throws with the remedy when one makes no sense. */
export function readSettings(node: Node): Settings {
  const asked = String(node.tryGetContext("stage") ?? "dev");
  const stage = STAGES.find((known) => known === asked);
  if (stage === undefined) throw new Error(`There is no stage "${asked}": say -c stage=dev or -c stage=prod`);
  return { stage, rateLimitPerMinute: rateLimitOf(stage, node.tryGetContext("rateLimitPerMinute")) };
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
