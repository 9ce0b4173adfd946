import { randomUUID } from "node:crypto";
import type { Cancel } from "../../clock.ts";
import { sourcesOf } from "./describe.ts";
import { sqsError, within } from "./errors.ts";
import type { SqsInput } from "./inputs.ts";
import type { Queue } from "./queue.ts";
import type { Queues } from "./queues.ts";
import type { MoveTaskRow } from "./store.ts";

const MAXIMUM_RATE = 500;

/** Moves messages out of dead-letter queues, a portion a second, and continues after a restart. */
export class MoveTasks {
  readonly #queues: Queues;
  readonly #running = new Map<string, Cancel>();

  constructor(queues: Queues) {
    this.#queues = queues;
    for (const task of queues.store.tasks.all()) if (task.status === "RUNNING") this.#continue(task);
  }

  start(input: SqsInput<"StartMessageMoveTask">): { TaskHandle: string } {
    const source = this.#queue(input.SourceArn);
    if (input.DestinationArn !== undefined) this.#queue(input.DestinationArn);
    if (sourcesOf(this.#queues, source).length === 0) {
      throw sqsError("InvalidParameterValue", "Source queue must be configured as a Dead Letter Queue.");
    }
    const rate = input.MaxNumberOfMessagesPerSecond;
    if (rate !== undefined) within("MaxNumberOfMessagesPerSecond", rate, 1, MAXIMUM_RATE);
    if (this.#of(source.arn).some(({ status }) => status === "RUNNING")) {
      throw sqsError("UnsupportedOperation", `There is already a task running for ${source.arn}.`);
    }
    source.backlog.catchUp(this.#queues.clock.now());
    const task: MoveTaskRow = {
      handle: Buffer.from(randomUUID()).toString("base64url"),
      source_arn: source.arn,
      destination_arn: input.DestinationArn ?? null,
      rate: rate ?? null,
      status: "RUNNING",
      started_at: this.#queues.clock.now(),
      to_move: source.backlog.counts.ready,
      moved: 0,
      reason: null,
    };
    this.#save(task);
    this.#continue(task);
    return { TaskHandle: task.handle };
  }

  list({ SourceArn, MaxResults }: SqsInput<"ListMessageMoveTasks">) {
    this.#queue(SourceArn);
    const tasks = this.#of(SourceArn).slice(0, within("MaxResults", MaxResults ?? 1, 1, 10));
    return { Results: tasks.map(shown) };
  }

  cancel({ TaskHandle }: SqsInput<"CancelMessageMoveTask">) {
    const task = this.#queues.store.tasks.all().find(({ handle }) => handle === TaskHandle);
    if (!task) throw sqsError("ResourceNotFoundException", "Task does not exist.");
    if (task.status !== "RUNNING") throw sqsError("UnsupportedOperation", "Only active tasks can be cancelled.");
    this.#running.get(TaskHandle)?.();
    this.#save({ ...task, status: "CANCELLED" });
    return { ApproximateNumberOfMessagesMoved: task.moved };
  }

  close(): void {
    for (const cancel of this.#running.values()) cancel();
  }

  #continue(task: MoveTaskRow): void {
    const { clock } = this.#queues;
    this.#running.set(
      task.handle,
      clock.at(clock.now(), () => this.#step(task)),
    );
  }

  #step(task: MoveTaskRow): void {
    const { clock, store } = this.#queues;
    const source = this.#queues.byArn(task.source_arn);
    if (!source) {
      this.#save({ ...task, status: "FAILED", reason: "AWS.SimpleQueueService.NonExistentQueue" });
      return;
    }
    const moved = store.transaction(() => this.#movePortion(source, task));
    const isDone = source.backlog.peek() === undefined || task.moved + moved >= task.to_move;
    const after: MoveTaskRow = { ...task, moved: task.moved + moved, status: isDone ? "COMPLETED" : "RUNNING" };
    this.#save(after);
    if (isDone) this.#running.delete(task.handle);
    else
      this.#running.set(
        task.handle,
        clock.at(clock.now() + 1_000, () => this.#step(after)),
      );
  }

  #movePortion(source: Queue, task: MoveTaskRow): number {
    const { clock, store } = this.#queues;
    const most = Math.min(task.rate ?? MAXIMUM_RATE, task.to_move - task.moved);
    const now = clock.now();
    source.backlog.catchUp(now);
    let moved = 0;
    for (let held = source.backlog.peek(); held && moved < most; held = source.backlog.peek()) {
      const origin = store.sourceOf.get(held.seq)?.source_arn ?? "";
      const target = this.#queues.byArn(task.destination_arn ?? origin) ?? sourcesOf(this.#queues, source)[0];
      if (!target) break;
      store.moveMessage.run(target.id, null, now, 0, held.seq);
      source.backlog.remove(held);
      target.backlog.add({ ...held, visibleAt: now, receipt: null, receiveCount: 0 });
      target.changed();
      moved += 1;
    }
    return moved;
  }

  #of(sourceArn: string): MoveTaskRow[] {
    return this.#queues.store.tasks.all().filter(({ source_arn }) => source_arn === sourceArn);
  }

  #queue(arn: string): Queue {
    const queue = this.#queues.byArn(arn);
    if (!queue)
      throw sqsError("ResourceNotFoundException", `The resource that you specified for ${arn} doesn't exist.`);
    return queue;
  }

  #save({ handle, source_arn, destination_arn, rate, status, started_at, to_move, moved, reason }: MoveTaskRow): void {
    this.#queues.store.saveTask.run(
      ...[handle, source_arn, destination_arn, rate, status, started_at, to_move, moved, reason],
    );
  }
}

function shown(task: MoveTaskRow) {
  return {
    ...(task.status === "RUNNING" && { TaskHandle: task.handle }),
    Status: task.status,
    SourceArn: task.source_arn,
    ...(task.destination_arn && { DestinationArn: task.destination_arn }),
    ...(task.rate && { MaxNumberOfMessagesPerSecond: task.rate }),
    ApproximateNumberOfMessagesMoved: task.moved,
    ApproximateNumberOfMessagesToMove: task.to_move,
    ...(task.reason && { FailureReason: task.reason }),
    StartedTimestamp: task.started_at,
  };
}
