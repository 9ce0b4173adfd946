import { explainCaptureOff, REASON_OF_OFF } from "../../model/change/capture-off.ts";
import type { TableShape } from "../../model/mapping/shape.ts";
import type { Held } from "../ports/lease-ports.ts";

/** The table is not there as mapped, or its changes are not captured, so a pull would revert what the application writes. */
export class CaptureIsOff extends Error {
  readonly reason: (typeof REASON_OF_OFF)[keyof typeof REASON_OF_OFF];
  readonly remedy: string;

  constructor(reason: CaptureIsOff["reason"], problem: string, remedy: string) {
    super(problem);
    this.name = "CaptureIsOff";
    this.reason = reason;
    this.remedy = remedy;
  }
}

/** Throws `CaptureIsOff`, with the remedy, before anything touches a table that it must not. */
export function refuseUncaptured({ captureOff, shape }: Held): void {
  if (captureOff === null) return;
  const { problem, remedy } = explainCaptureOff(captureOff, `${shape.schema}.${shape.table}`, shape.sfObject);
  throw new CaptureIsOff(REASON_OF_OFF[captureOff.why], `${problem}; nothing is pulled or sent meanwhile`, remedy);
}

/** A first load would change more records than it may before an operator has seen its dry run. */
export class DigestNeeded extends Error {
  constructor(message: string) {
    super(message);
    this.name = "DigestNeeded";
  }
}

/** Whether the first matches of a mapping send values of its rows to Salesforce. */
export const mayOverwrite = ({ direction, conflictPolicy }: TableShape): boolean =>
  direction === "bidirectional" && conflictPolicy === "postgres_wins";

/** Whether it is unknown what a mapping's very first load would change in Salesforce: then nothing is sent either. */
export const isUnjudged = ({ shape, marks, lastPullAt }: Held): boolean =>
  mayOverwrite(shape) && marks.position === null && marks.load === null && lastPullAt === null;
