import { NOTED_SECONDS } from "./beat.ts";
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
  readonly commands: readonly string[];
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
      remedy: "deactivate the mapping, and activate it again",
      commands: [`bridge mapping deactivate ${sfObject}`, `bridge mapping activate ${sfObject}`],
    };
  const unrun = age(lastCycleAt) - NOTED_SECONDS * 1000; // at least
  if (!isRunning && unrun > CYCLE_MILLISECONDS)
    return {
      message: `${sfObject}: no cycle has begun for ${seconds(unrun)} s`,
      remedy: "look for errors in the log of the cycles, and check whether their schedule or the service has stopped",
      commands: [`bridge poll ${sfObject}`],
    };
  if (!isRunning && unsentSince !== null && age(unsentSince) > CYCLE_MILLISECONDS)
    return {
      message: `${sfObject}: changes are PENDING for ${seconds(age(unsentSince))} s, and no cycle sends them`,
      remedy: "a poll releases them and sends them; the log of the mapping's cycles says why these ended",
      commands: [`bridge poll ${sfObject}`],
    };
  if (rewound > 0)
    return {
      message: `${sfObject}: changes of ${rewound} rows wait for a decision since a restore`,
      remedy: "run bridge restore plan to see which, then bridge restore accept",
      commands: ["bridge restore plan", `bridge restore accept ${sfObject}`],
    };
  if (inboundErrors >= REFUSED_RECORDS && inboundErrors >= REFUSED_SHARE * (rows + inboundErrors))
    return {
      message: `${sfObject}: ${inboundErrors} records cannot become rows, beside ${rows} rows`,
      remedy: "correct the column or the records",
      commands: [`bridge inbound-errors --mapping ${sfObject}`],
    };
  return null;
}

const seconds = (milliseconds: number) => Math.round(milliseconds / 1000);
