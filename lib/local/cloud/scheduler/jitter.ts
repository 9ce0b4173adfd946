import { createHash } from "node:crypto";

/** How many seconds after its time an occurrence fires, by the schedule's ARN and the time meant (epoch milliseconds). */
export type Jitter = (scheduleArn: string, occurrence: number) => number;

/**
 * 0 to 59 seconds, different for each occurrence yet the same after a restart: AWS promises a precision of 60 seconds and
 * no more (EventBridge Scheduler User Guide, "Schedule types").
 */
export const withinTheMinute: Jitter = (scheduleArn, occurrence) => {
  return createHash("sha256").update(`${scheduleArn} ${occurrence}`).digest().readUInt32BE() % 60;
};
