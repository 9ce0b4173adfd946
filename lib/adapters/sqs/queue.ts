import type { Queue } from "../../model/messages.ts";
import type { QueueName } from "../../model/resources.ts";
import type { Queues } from "./client.ts";
import { send } from "./send.ts";

/** A queue whose messages belong to workspaces: the workspace is their group, so that a busy one holds up no other. */
export function queue<Message extends { readonly workspace_id: string }>(
  queues: Queues,
  name: QueueName,
): Queue<Message> {
  return {
    send: (messages) =>
      send(
        queues,
        name,
        messages.map((outgoing) => ({ ...outgoing, group: outgoing.message.workspace_id })),
      ),
  };
}
