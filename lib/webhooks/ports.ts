import type { Event } from "../model/event.ts";

/** Where events begin. Whoever publishes needs nothing else of this room. */
export interface Events {
  /**
   * Keeps the events until they are dispatched, then wakes the dispatcher. When it resolves, each of them reaches every
   * webhook that wants it, also if the wake-up is lost. Publishing an id again is harmless for thirty days.
   */
  publish(events: readonly Event[]): Promise<void>;
  /**
   * Wakes the dispatcher for events whose rows were written in a transaction of the caller's. A lost wake-up is made up
   * for by the minute sweeper.
   */
  wake(events: readonly Event[]): Promise<void>;
}
