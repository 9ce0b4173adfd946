import type { Clock } from "../../../lib/sync/ports/cycle-ports.ts";

/** Time that does not move until it is moved; what is due then runs in its order. */
export class ModelClock implements Clock {
  #now = Date.parse("2026-11-20T10:00:00Z");
  #timers: { readonly at: number; readonly run: () => unknown }[] = [];

  now(): number {
    return this.#now;
  }

  at(at: number, run: () => unknown): () => void {
    const timer = { at, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  pass(seconds: number): void {
    const until = this.#now + seconds * 1000;
    for (;;) {
      const [next] = this.#timers.filter(({ at }) => at <= until).sort((one, other) => one.at - other.at);
      if (!next) break;
      this.#timers = this.#timers.filter((other) => other !== next);
      this.#now = Math.max(this.#now, next.at);
      next.run();
    }
    this.#now = until;
  }
}
