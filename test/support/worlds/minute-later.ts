import { mappings, queue } from "../../../functions/services/composition.ts";
import { schedules, swept } from "../../../functions/services/provisioning-services.ts";
import type { Outgoing, QueueMessages, Queues } from "../../../lib/model/messages.ts";
import { sweep } from "../../../lib/sync/beat/sweep-minute.ts";
import { carryOut } from "./carry-out.ts";
import type { Row, SyncWorld } from "./sync-world.ts";

/** What a sweep some minutes from now asks for in this world's workspace, carried out; and what the sweep logs. */
export async function minutesLater({ cloud, services, workspaceId }: SyncWorld): Promise<readonly Row[]> {
  const log: Row[] = [];
  const clock = { ...cloud.clock, now: () => cloud.clock.now() + 3 * 60_000 };
  const ours = <Name extends "provisioning" | "loads">(name: Name): Queues[Name] =>
    ({
      send: (messages: readonly Outgoing<QueueMessages[Name]>[]) =>
        queue(name).send(messages.filter(({ message }) => message.workspace_id === workspaceId)),
    }) as Queues[Name];
  const queues = { provisioning: ours("provisioning"), loads: ours("loads") };
  await sweep({
    mappings: mappings(),
    schedules: schedules(),
    swept: swept(),
    queues,
    clock,
    log: (one) => log.push(one),
  });
  await carryOut(cloud, services);
  return log;
}
