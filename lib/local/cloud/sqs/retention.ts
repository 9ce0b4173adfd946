import type { Cancel } from "../../clock.ts";
import type { Queues } from "./queues.ts";

const EVERY_MILLISECONDS = 3_600_000;

/** Drops each hour what no receiver came for within its queue's retention period; gives the way to stop it. */
export function keepRetention(queues: Queues): Cancel {
  const sweep = () => {
    dropExpired(queues);
    cancel = queues.clock.at(queues.clock.now() + EVERY_MILLISECONDS, sweep);
  };
  let cancel: Cancel = () => {};
  sweep();
  return () => cancel();
}

function dropExpired(queues: Queues): void {
  const now = queues.clock.now();
  for (const queue of queues.list()) {
    const oldest = now - queue.seconds("MessageRetentionPeriod") * 1000;
    const expired = queue.backlog.all().filter(({ sentAt }) => sentAt <= oldest);
    if (expired.length === 0) continue;
    queues.store.transaction(() => {
      for (const { seq } of expired) queues.store.deleteMessage.run(seq);
    });
    for (const held of expired) queue.backlog.remove(held);
  }
}
