import { explainCaptureOff, REASON_OF_OFF } from "../../model/change/capture-off.ts";
import type { Begun } from "../lease/lease-ports.ts";

/** The table is not there as mapped, or its changes are not captured, so a pull would revert what the application writes. */
export class CaptureIsOff extends Error {
  readonly reason: (typeof REASON_OF_OFF)[keyof typeof REASON_OF_OFF];

  constructor(reason: CaptureIsOff["reason"], message: string) {
    super(message);
    this.name = "CaptureIsOff";
    this.reason = reason;
  }
}

/** Throws `CaptureIsOff`, with the remedy, before anything touches a table that it must not. */
export function refuseUncaptured({ captureOff, shape }: Extract<Begun, { readonly held: true }>): void {
  if (captureOff === null) return;
  const { problem, remedy } = explainCaptureOff(captureOff, `${shape.schema}.${shape.table}`, shape.sfObject);
  throw new CaptureIsOff(REASON_OF_OFF[captureOff.why], `${problem}; nothing is pulled or sent meanwhile; ${remedy}`);
}
