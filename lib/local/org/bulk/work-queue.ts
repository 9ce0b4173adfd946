import { setImmediate as nextTurn } from "node:timers/promises";

/** Runs jobs one after the other behind the requests; stops between two steps when the org closes. */
export class WorkQueue {
  #tail: Promise<void> = Promise.resolve();
  #isStopped = false;

  get isStopped(): boolean {
    return this.#isStopped;
  }

  add(work: () => Promise<void>): void {
    this.#tail = this.#tail
      .then(async () => {
        await nextTurn();
        if (!this.#isStopped) await work();
      })
      .catch((error: unknown) => console.error("a bulk job of the embedded org could not be kept:", error));
  }

  /** Resolves once the running job has come to a place where it can stop. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#tail;
  }
}
