import type { Vault } from "../access/ports.ts";
import { EVENT_TYPES, type EventType } from "../model/delivery/event.ts";
import { MAX_REPLACED_SECRETS, MAX_WEBHOOKS, rotate, type Webhook } from "../model/delivery/webhook.ts";
import { Failure } from "../model/failure.ts";
import { newId } from "../model/id.ts";
import { type AuditAction, type AuditEntry, auditEntry } from "../model/workspace/audit.ts";
import type { UrlGuard, WebhookSettings, Webhooks } from "./ports.ts";
import { newSecret } from "./sign.ts";

/** What a caller may say about a webhook. */
export interface WebhookInput {
  readonly url: string;
  readonly events: readonly EventType[];
  readonly description: string;
  readonly active: boolean;
}

/** What a caller may change; what it leaves out stays. */
export type WebhookChange = { readonly [Name in keyof WebhookInput]?: WebhookInput[Name] | undefined };

/** Who changes something, and when. */
export interface Actor {
  readonly actor: string;
  readonly at: Date;
}

/** The one moment at which a signing secret can be seen (contract 6.3.4). */
export interface WithSecret {
  readonly webhook: Webhook;
  readonly secret: string;
}

interface CreateNeeds {
  readonly webhooks: Pick<Webhooks, "list"> & Pick<WebhookSettings, "create">;
  readonly vault: Pick<Vault, "seal">;
  readonly isSafe: UrlGuard;
}

/** Registers a webhook with a new secret. Rejects with VALIDATION_ERROR for its URL, CONFLICT when there are too many. */
export async function createWebhook(
  { webhooks, vault, isSafe }: CreateNeeds,
  workspaceId: string,
  wish: WebhookInput,
  by: Actor,
): Promise<WithSecret> {
  const url = await judgedUrl(isSafe, wish.url);
  if ((await webhooks.list(workspaceId)).length >= MAX_WEBHOOKS) {
    throw new Failure("CONFLICT", `a workspace has at most ${MAX_WEBHOOKS} webhooks: delete one first`);
  }
  const secret = newSecret();
  const webhook: Webhook = {
    id: newId("whk"),
    workspaceId,
    ...wish,
    url,
    events: inOrder(wish.events),
    secrets: { current: await vault.seal(workspaceId, secret), previous: [] },
    createdAt: by.at,
    updatedAt: by.at,
    failingSince: null,
    slowUntil: null,
    version: 1,
  };
  await webhooks.create(
    webhook,
    entryOf(webhook, "webhook.created", by, { host: hostOf(url), events: webhook.events }),
  );
  return { webhook, secret };
}

interface ChangeNeeds {
  readonly webhooks: Pick<WebhookSettings, "change">;
  readonly isSafe: UrlGuard;
}

/** Changes what the wish names; the secret stays. Rejects with VALIDATION_ERROR for its URL, CONFLICT when it was changed meanwhile. */
export async function changeWebhook(
  { webhooks, isSafe }: ChangeNeeds,
  webhook: Webhook,
  wish: WebhookChange,
  by: Actor,
): Promise<Webhook> {
  const changed = {
    ...webhook,
    url: wish.url === undefined ? webhook.url : await judgedUrl(isSafe, wish.url),
    events: inOrder(wish.events ?? webhook.events),
    description: wish.description ?? webhook.description,
    active: wish.active ?? webhook.active,
    updatedAt: by.at,
    version: webhook.version + 1,
  };
  const detail = { changed: Object.keys(wish).sort(), host: hostOf(changed.url) };
  await orConflict(webhooks.change(changed, entryOf(webhook, "webhook.updated", by, detail)));
  return changed;
}

/** Deletes a webhook; its unfinished deliveries are not attempted again. */
export async function deleteWebhook(webhooks: Pick<WebhookSettings, "delete">, webhook: Webhook, by: Actor) {
  const entry = entryOf(webhook, "webhook.deleted", by, { host: hostOf(webhook.url) });
  const key = { workspaceId: webhook.workspaceId, webhookId: webhook.id };
  if (!(await webhooks.delete(key, entry))) throw webhookNotFound(webhook.id);
}

interface RotateNeeds {
  readonly webhooks: Pick<WebhookSettings, "change">;
  readonly vault: Pick<Vault, "seal">;
}

/** Gives the webhook a new secret at once; the old one signs beside it for `overlapSeconds`. */
export async function rotateSecret(
  { webhooks, vault }: RotateNeeds,
  webhook: Webhook,
  overlapSeconds: number,
  by: Actor,
): Promise<WithSecret> {
  const secret = newSecret();
  const secrets = rotate(webhook.secrets, await vault.seal(webhook.workspaceId, secret), overlapSeconds, by.at);
  if (secrets === null) {
    const remedy = "wait until one expires, or rotate with overlap_seconds=0 once every receiver has the newest";
    throw new Failure("CONFLICT", `${MAX_REPLACED_SECRETS} replaced secrets still sign for this webhook: ${remedy}`);
  }
  const changed = { ...webhook, secrets, updatedAt: by.at, version: webhook.version + 1 };
  const entry = entryOf(webhook, "webhook.secret_rotated", by, { overlap_seconds: overlapSeconds });
  await orConflict(webhooks.change(changed, entry));
  return { webhook: changed, secret };
}

/** The webhook of this id in this workspace, or WEBHOOK_NOT_FOUND, the same for one that another workspace has. */
export async function findWebhook(
  webhooks: Pick<Webhooks, "read">,
  workspaceId: string,
  webhookId: string,
): Promise<Webhook> {
  const webhook = await webhooks.read(workspaceId, webhookId);
  if (webhook === null) throw webhookNotFound(webhookId);
  return webhook;
}

/** The audit entry of something done to a webhook. It has neither the path, which can be a secret, nor the secret. */
export function entryOf(
  webhook: Webhook,
  action: AuditAction & `webhook.${string}`,
  { actor, at }: Actor,
  detail: AuditEntry["detail"],
): AuditEntry {
  return auditEntry({ workspaceId: webhook.workspaceId, actor, at }, action, webhook.id, detail);
}

async function judgedUrl(isSafe: UrlGuard, url: string): Promise<string> {
  const refused = await isSafe(url);
  const href = URL.parse(url)?.href;
  if (refused === null && href !== undefined) return href;
  const message = `the URL ${refused ?? "can't be read"}`;
  throw new Failure("VALIDATION_ERROR", `url: ${message}`, { details: [{ path: "body.url", message }] });
}

async function orConflict(changed: Promise<boolean>): Promise<void> {
  if (await changed) return;
  throw new Failure("CONFLICT", "this webhook was changed at the same time: read it again, then repeat");
}

const webhookNotFound = (id: string) => new Failure("WEBHOOK_NOT_FOUND", `no webhook ${id} in this workspace`);

const inOrder = (events: readonly EventType[]): readonly EventType[] =>
  EVENT_TYPES.filter((event) => events.includes(event));

const hostOf = (url: string): string => new URL(url).host;
