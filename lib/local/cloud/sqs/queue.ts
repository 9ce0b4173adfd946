import type { Cancel, Clock } from "../../clock.ts";
import { Backlog } from "./backlog.ts";
import { numberOf, type QueueAttributes, type Redrive, redriveOf } from "./queue-attributes.ts";
import type { QueueRow } from "./store.ts";

/** One queue as it is open: its settings, the order of its messages, and the receivers that wait for one. */
export class Queue {
  readonly id: number;
  readonly name: string;
  readonly arn: string;
  readonly createdAt: number;
  readonly backlog: Backlog;
  modifiedAt: number;
  purgedAt: number | null;
  tags: Record<string, string>;
  redrive: Redrive | null = null;
  readonly #clock: Clock;
  readonly #waiting: Array<() => void> = [];
  #attributes: QueueAttributes = {};
  #cancelTimer: Cancel = () => {};

  constructor(row: QueueRow, arn: string, clock: Clock) {
    this.id = row.id;
    this.name = row.name;
    this.arn = arn;
    this.createdAt = row.created_at;
    this.modifiedAt = row.modified_at;
    this.purgedAt = row.purged_at;
    this.tags = JSON.parse(row.tags) as Record<string, string>;
    this.attributes = JSON.parse(row.attributes) as QueueAttributes;
    this.#clock = clock;
    this.backlog = new Backlog(clock.now());
  }

  get attributes(): QueueAttributes {
    return this.#attributes;
  }

  set attributes(attributes: QueueAttributes) {
    this.#attributes = attributes;
    this.redrive = redriveOf(attributes);
  }

  seconds(attribute: string): number {
    return numberOf(this.#attributes, attribute);
  }

  /** To be called after messages came, or their times changed: wakes as many receivers as there are messages. */
  changed(): void {
    this.backlog.catchUp(this.#clock.now());
    for (let ready = this.backlog.counts.ready; ready > 0 && this.#waiting.length > 0; ready--)
      this.#waiting.shift()?.();
    this.#arm();
  }

  /** Ends when a message may be there, at the deadline (epoch milliseconds), or when the receiver is gone. */
  awaitMessage(deadline: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        signal.removeEventListener("abort", end);
        const place = this.#waiting.indexOf(end);
        if (place >= 0) this.#waiting.splice(place, 1);
        resolve();
      };
      const cancel = this.#clock.at(deadline, end);
      signal.addEventListener("abort", end);
      this.#waiting.push(end);
      this.#arm();
    });
  }

  /** Sends every waiting receiver home. */
  close(): void {
    for (const end of [...this.#waiting]) end();
    this.#cancelTimer();
  }

  #arm(): void {
    this.#cancelTimer();
    const due = this.#waiting.length > 0 ? this.backlog.nextDue() : undefined;
    if (due !== undefined) this.#cancelTimer = this.#clock.at(due, () => this.changed());
  }
}
