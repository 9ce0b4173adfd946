import type { Wakes } from "../../model/messages.ts";

/** Where wake-ups of one mapping and side come together. */
export interface WakeUpTimes {
  /**
   * Claims the next wake-up of a mapping: not before `at`, and two seconds after the one before. Gives its time (epoch
   * milliseconds), which is the claimer's to keep; null: one is still to come, which sees all that was committed by now.
   */
  claimWake(asked: WakeClaim): Promise<number | null>;
}

export interface WakeClaim {
  readonly workspaceId: string;
  readonly mappingId: string;
  readonly wakes: Wakes;
  readonly at: number;
}
