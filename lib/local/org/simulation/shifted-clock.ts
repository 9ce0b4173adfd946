import type { Clock } from "../clock.ts";

/** A clock of its own: it can be moved ahead of the one it is built on, or behind. */
export class ShiftedClock implements Clock {
  readonly #base: Clock;
  #aheadMs = 0;

  constructor(base: Clock) {
    this.#base = base;
  }

  now(): Date {
    return this.#aheadMs === 0 ? this.#base.now() : new Date(this.#base.now().getTime() + this.#aheadMs);
  }

  sleep(milliseconds: number): Promise<void> {
    return this.#base.sleep(milliseconds);
  }

  advance(milliseconds: number): void {
    this.#aheadMs += milliseconds;
  }
}
