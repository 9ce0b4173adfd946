import { now, vault, webhooks } from "../../../functions/services/composition.ts";
import type { Webhook } from "../../../lib/model/delivery/webhook.ts";
import { newId } from "../../../lib/model/id.ts";
import { newSecret } from "../../../lib/webhooks/sign.ts";

/** A webhook for `record.failed` in a workspace of its own, unless one is given, made without the API and its count of requests. */
export async function makeWebhook(url: string, workspaceId = newId("ws")): Promise<Webhook> {
  const at = now();
  const webhook: Webhook = {
    id: newId("whk"),
    workspaceId,
    url,
    events: ["record.failed"],
    description: "",
    active: true,
    secrets: { current: await vault().seal(workspaceId, newSecret()), previous: [] },
    createdAt: at,
    updatedAt: at,
    failingSince: null,
    slowUntil: null,
    version: 1,
  };
  const entry = { workspaceId, actor: "system", resourceId: webhook.id, detail: {}, createdAt: at };
  await webhooks().create(webhook, { ...entry, id: newId("aud"), action: "webhook.created" });
  return webhook;
}
