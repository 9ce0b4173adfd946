import { explainCaptureOff } from "../../model/change/capture-off.ts";
import type { Begun } from "../lease/lease-ports.ts";

/** The table's changes are not captured, so a pull would revert what the application has written meanwhile. */
export class CaptureIsOff extends Error {
  constructor(message: string) {
    super(message);
    this.name = "CaptureIsOff";
  }
}

/** Throws `CaptureIsOff`, with the remedy, before anything touches a table whose changes are not captured. */
export function refuseUncaptured({ captureOff, shape }: Extract<Begun, { readonly held: true }>): void {
  if (captureOff === null) return;
  const { problem, remedy } = explainCaptureOff(captureOff, `${shape.schema}.${shape.table}`, shape.sfObject);
  throw new CaptureIsOff(`${problem}; nothing is pulled or sent meanwhile; ${remedy}`);
}
