import { explainCaptureOff, REASON_OF_OFF } from "../../model/change/capture-off.ts";
import type { TableShape } from "../../model/mapping/shape.ts";
import { EngineStop } from "../cycle/engine-stop.ts";
import type { Held } from "../ports/lease-ports.ts";

/** Throws before anything touches a table that is not there as mapped, or whose changes a pull would revert uncaptured. */
export function refuseUncaptured({ captureOff, shape }: Held): void {
  if (captureOff === null) return;
  const { problem, remedy } = explainCaptureOff(captureOff, `${shape.schema}.${shape.table}`, shape.sfObject);
  const message = `${problem}; nothing is pulled or sent meanwhile`;
  throw new EngineStop({ reason: REASON_OF_OFF[captureOff.why], message, remedy });
}

/** Whether the first matches of a mapping send values of its rows to Salesforce. */
export const mayOverwrite = ({ direction, conflictPolicy }: TableShape): boolean =>
  direction === "bidirectional" && conflictPolicy === "postgres_wins";

/** Whether it is unknown what a mapping's very first load would change in Salesforce: then nothing is sent either. */
export const isUnjudged = ({ shape, marks, lastPullAt }: Held): boolean =>
  mayOverwrite(shape) && marks.position === null && marks.load === null && lastPullAt === null;
