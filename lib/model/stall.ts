import { NOTED_SECONDS } from "./beat.ts";
import type { Usage } from "./calls/plan.ts";
import type { Mapping } from "./mapping/mapping.ts";

/** What a customer's database shows of a mapping's cycles; times are epoch milliseconds. */
export interface Signs {
  readonly id: string;
  /** About how many rows its table has, and the records that could not become rows. */
  readonly rows: number;
  readonly inboundErrors: number;
  /** Of the configuration that its cycles must have. */
  readonly version: number;
  /** Whether a cycle holds its lease, and when the last one ended; null: none has yet. */
  readonly isRunning: boolean;
  readonly lastCycleAt: number | null;
  /** Since when a change has been PENDING that was not sent; null: none is. */
  readonly unsentSince: number | null;
  /** Rows whose changes wait for a person since a restore. */
  readonly rewound: number;
}

/** Why a mapping, or all of them, does not move what it should, with the remedy. */
export interface Stall {
  readonly message: string;
  readonly remedy: string;
}

const [VERSION_MILLISECONDS, CYCLE_MILLISECONDS] = [60_000, 120_000];

/** One record in ten that cannot become a row, and at least five. */
const [REFUSED_SHARE, REFUSED_RECORDS] = [0.1, 5];

/** Why an active mapping that has its table does not move all that it should; null: it does. */
export function stallOf(mapping: Mapping, signs: Signs, now: Date): Stall | null {
  const { sfObject, configVersion, provisioning, updatedAt } = mapping;
  const { rows, inboundErrors, version, isRunning, lastCycleAt, unsentSince, rewound } = signs;
  const age = (at: number | null) => now.getTime() - (at ?? updatedAt.getTime());
  const isReady = provisioning.state === "ready" && provisioning.version === configVersion;
  if (isReady && version !== configVersion && age(null) > VERSION_MILLISECONDS)
    return {
      message: `${sfObject}: its table has version ${version} of the configuration, and the mapping ${configVersion}: no cycle may begin`,
      remedy: `bridge mapping deactivate ${sfObject}, then bridge mapping activate ${sfObject}`,
    };
  const unrun = age(lastCycleAt) - NOTED_SECONDS * 1000; // at least
  if (!isRunning && unrun > CYCLE_MILLISECONDS)
    return {
      message: `${sfObject}: no cycle has begun for ${seconds(unrun)} s`,
      remedy: "look for errors in the log of the cycles, and whether their schedule or the service is stopped",
    };
  if (!isRunning && unsentSince !== null && age(unsentSince) > CYCLE_MILLISECONDS)
    return {
      message: `${sfObject}: changes are PENDING for ${seconds(age(unsentSince))} s, and no cycle sends them`,
      remedy: `bridge poll ${sfObject} gives them back and sends them; the log of its cycles says what ends them`,
    };
  if (rewound > 0)
    return {
      message: `${sfObject}: changes of ${rewound} rows wait for a decision since a restore`,
      remedy: `bridge restore plan says which, bridge restore accept ${sfObject} decides`,
    };
  if (inboundErrors >= REFUSED_RECORDS && inboundErrors >= REFUSED_SHARE * (rows + inboundErrors))
    return {
      message: `${sfObject}: ${inboundErrors} records cannot become rows, beside ${rows} rows`,
      remedy: `bridge inbound-errors --mapping ${sfObject} says why; correct the column or the records`,
    };
  return null;
}

const seconds = (milliseconds: number) => Math.round(milliseconds / 1000);

/** The org takes no call any more; `nextTryAt`: null where that is not known. */
export function callsUsedUp(usage: Pick<Usage, "used" | "limit"> | null, nextTryAt: Date | null): Stall | null {
  if (usage === null || usage.limit === 0 || usage.used < usage.limit) return null;
  const [used, limit] = [usage.used, usage.limit].map((calls) => calls.toLocaleString("en-US"));
  const next = nextTryAt ? `, next try ${nextTryAt.toISOString().slice(11, 16)} UTC` : "";
  return {
    message: `the org's API calls of 24 hours are used up: ${used} of ${limit}${next}`,
    remedy: "wait until calls of the last 24 hours expire, or raise the org's limit; changes wait meanwhile",
  };
}
