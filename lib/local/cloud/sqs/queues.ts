import type { Clock } from "../../clock.ts";
import { sqsError } from "./errors.ts";
import { Queue } from "./queue.ts";
import { type QueueAttributes, redriveOf, withAttributes } from "./queue-attributes.ts";
import { heldOf, openSqsStore, type SqsStore } from "./store.ts";

/** Where the queues are stored, and the parts of their names. */
export interface SqsSettings {
  readonly file: string;
  readonly clock: Clock;
  readonly region: string;
  readonly accountId: string;
  /** The base of queue URLs, known once the listener is up. */
  readonly endpoint: () => string;
}

const QUEUE_NAME = /^[A-Za-z0-9_-]{1,80}$/;
const SAME_NAME_AFTER_SECONDS = 60;

/** All open queues. What is sent, received or changed is on disk before it counts. */
export class Queues {
  readonly store: SqsStore;
  readonly clock: Clock;
  isClosed = false;
  readonly #settings: SqsSettings;
  readonly #byName = new Map<string, Queue>();

  constructor(settings: SqsSettings) {
    this.#settings = settings;
    this.clock = settings.clock;
    this.store = openSqsStore(settings.file);
    const byId = new Map<number, Queue>();
    for (const row of this.store.queues.all()) {
      const queue = new Queue(row, this.arnOf(row.name), this.clock);
      this.#byName.set(row.name, queue);
      byId.set(row.id, queue);
    }
    for (const row of this.store.held.iterate()) byId.get(row.queue_id)?.backlog.add(heldOf(row));
  }

  list(): Queue[] {
    return [...this.#byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  named(name: string): Queue {
    const queue = this.#byName.get(name);
    if (!queue) throw sqsError("QueueDoesNotExist", `The specified queue does not exist: ${name}`);
    return queue;
  }

  /** The queue of a URL; only its path counts, so that a URL outlives a change of port. */
  at(url: string): Queue {
    const [accountId, name, ...rest] = (URL.parse(url)?.pathname ?? url).split("/").filter((part) => part !== "");
    if (accountId !== this.#settings.accountId || name === undefined || rest.length > 0) {
      throw sqsError("QueueDoesNotExist", `The specified queue does not exist: ${url}`);
    }
    return this.named(name);
  }

  byArn(arn: string): Queue | undefined {
    const name = arn.split(":").at(-1) ?? "";
    return arn === this.arnOf(name) ? this.#byName.get(name) : undefined;
  }

  arnOf(name: string): string {
    return `arn:aws:sqs:${this.#settings.region}:${this.#settings.accountId}:${name}`;
  }

  urlOf(queue: Queue): string {
    return `${this.#settings.endpoint()}/${this.#settings.accountId}/${queue.name}`;
  }

  /** Creates a queue, or gives the one that has this name and these attributes already. */
  create(name: string, attributes: QueueAttributes, tags: Record<string, string>): Queue {
    this.#checkName(name);
    const existing = this.#byName.get(name);
    if (existing) return this.#sameOrRefused(existing, attributes);
    const now = this.clock.now();
    const deletedAt = this.store.deletedAt.get(name)?.deleted_at ?? Number.NEGATIVE_INFINITY;
    if (deletedAt + SAME_NAME_AFTER_SECONDS * 1000 > now) {
      throw sqsError(
        "QueueDeletedRecently",
        `You must wait 60 seconds after deleting ${name} before you create it again.`,
      );
    }
    const complete = withAttributes({}, attributes);
    this.#checkDeadLetterTarget(complete);
    const row = this.store.insertQueue.get(name, JSON.stringify(complete), JSON.stringify(tags), now, now);
    if (!row) throw new Error(`the queue ${name} was not written`);
    const queue = new Queue(row, this.arnOf(name), this.clock);
    this.#byName.set(name, queue);
    return queue;
  }

  setAttributes(queue: Queue, changes: QueueAttributes): void {
    const attributes = withAttributes(queue.attributes, changes);
    this.#checkDeadLetterTarget(attributes);
    queue.attributes = attributes;
    this.save(queue);
    queue.changed();
  }

  save(queue: Queue): void {
    queue.modifiedAt = this.clock.now();
    const { attributes, tags, modifiedAt, purgedAt, id } = queue;
    this.store.updateQueue.run(JSON.stringify(attributes), JSON.stringify(tags), modifiedAt, purgedAt, id);
  }

  delete(queue: Queue): void {
    this.store.transaction(() => {
      this.store.purge.run(queue.id);
      this.store.deleteQueue.run(queue.id);
      this.store.noteDeletion.run(queue.name, this.clock.now());
    });
    this.#byName.delete(queue.name);
    queue.close();
  }

  close(): void {
    this.isClosed = true;
    for (const queue of this.#byName.values()) queue.close();
    this.store.close();
  }

  #checkName(name: string): void {
    if (name.endsWith(".fifo")) {
      throw sqsError(
        "UnsupportedOperation",
        `${name}: FIFO queues are not part of the embedded cloud; use a standard queue.`,
      );
    }
    if (!QUEUE_NAME.test(name)) {
      throw sqsError(
        "InvalidParameterValue",
        "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length",
      );
    }
  }

  #sameOrRefused(existing: Queue, attributes: QueueAttributes): Queue {
    const different = Object.entries(attributes).find(([key, value]) => existing.attributes[key] !== value);
    if (!different) return existing;
    throw sqsError(
      "QueueNameExists",
      `A queue already exists with the same name and a different value for attribute ${different[0]}`,
    );
  }

  #checkDeadLetterTarget(attributes: QueueAttributes): void {
    const redrive = redriveOf(attributes);
    if (!redrive || this.byArn(redrive.deadLetterArn)) return;
    throw sqsError(
      "InvalidParameterValue",
      `Value ${attributes["RedrivePolicy"]} for parameter RedrivePolicy is invalid. Reason: Dead letter target does not exist.`,
    );
  }
}
