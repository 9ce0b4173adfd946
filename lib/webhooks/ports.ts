import type { Attempt, Delivery, DeliveryFilter, ListedDelivery, Outcome, WakeUp } from "../model/delivery/delivery.ts";
import type { Event } from "../model/delivery/event.ts";
import type { Webhook } from "../model/delivery/webhook.ts";
import type { Page, Slice } from "../model/page.ts";
import type { AuditEntry } from "../model/workspace/audit.ts";

/** Where events begin. A publisher needs nothing else of this room. */
export interface Events {
  /**
   * Keeps the events until they are dispatched, then wakes the dispatcher. When it resolves, each of them reaches every
   * webhook that wants it, also if the wake-up is lost. Publishing an id again is harmless for thirty days. Rejects with
   * `EventRefused` where one of them can never be kept; what of the others was kept is unknown.
   */
  publish(events: readonly Event[]): Promise<void>;
  /**
   * Wakes the dispatcher for events whose rows were written in a transaction of the caller's. The minute sweeper
   * repeats a lost wake-up.
   */
  wake(events: readonly Event[]): Promise<void>;
}

/** What the settings area keeps about webhooks. */
export interface Webhooks {
  /** All of a workspace, oldest first. */
  list(workspaceId: string): Promise<readonly Webhook[]>;
  /** Null when the workspace has none of this id. */
  read(workspaceId: string, webhookId: string): Promise<Webhook | null>;
  /** Several at once, for the workers; those that are gone are left out. */
  readMany(keys: readonly WebhookKey[]): Promise<readonly Webhook[]>;
  /** Notes the edge between failing and answering; harmless when the webhook is gone. */
  noteHealth(webhook: WebhookKey, health: Pick<Webhook, "failingSince" | "slowUntil">): Promise<void>;
}

/** What names a webhook. */
export interface WebhookKey {
  readonly workspaceId: string;
  readonly webhookId: string;
}

/** Changes of webhooks by people, each in one transaction with its audit entry. */
export interface WebhookSettings {
  create(webhook: Webhook, audit: AuditEntry): Promise<void>;
  /** False when it was changed or deleted since it was read. */
  change(webhook: Webhook, audit: AuditEntry): Promise<boolean>;
  /** False when it is gone already. */
  delete(webhook: WebhookKey, audit: AuditEntry): Promise<boolean>;
}

/** Why a URL can't be saved or connected to, to follow "the URL …"; null when nothing speaks against it. */
export type UrlGuard = (url: string) => Promise<string | null>;

/** The service's own store refuses one of these events, for its size or its form, however often it is asked. */
export class EventRefused extends Error {
  constructor(cause: Error) {
    super(`${cause.name}: ${cause.message}`, { cause });
    this.name = "EventRefused";
  }
}

/** What the minute sweeper asks; it reads on page by page until nothing is left. */
export interface Overdue<Thing> {
  /** Those whose time came before `before`. */
  late(before: Date): AsyncIterable<readonly Thing[]>;
  /** The sweeper handles them no earlier than `until`; their schedule stays. Leaves those alone that changed. */
  postpone(things: readonly Thing[], until: Date): Promise<void>;
}

/** Events that wait to be dispatched. */
export interface EventRows extends Overdue<Event> {
  /** Keeps events; one that waits already waits on. Rejects with `EventRefused` where one can never be kept. */
  add(events: readonly Event[]): Promise<void>;
  /** Those of them that still wait, in no order. */
  read(keys: readonly EventKey[]): Promise<readonly Event[]>;
  /** Ends their wait. */
  forget(events: readonly Event[]): Promise<void>;
}

/** What names an event. */
export interface EventKey {
  readonly workspaceId: string;
  readonly eventId: string;
}

/** Deliveries and their history. */
export interface Deliveries extends Overdue<Delivery> {
  /** Keeps new ones; one that exists stays as it is. */
  add(deliveries: readonly Delivery[]): Promise<void>;
  /** Stores a new one that was requested, together with its audit entry. */
  addAsked(delivery: Delivery, audit: AuditEntry): Promise<void>;
  /** Those that exist, as last written. */
  read(ids: readonly string[]): Promise<readonly Delivery[]>;
  /**
   * Writes `after` over `before`; false when it was written in between. An attempt that a newer one replaces moves to
   * the history in the same write. With an audit entry, both are written or none.
   */
  replace(before: Delivery, after: Delivery, audit?: AuditEntry): Promise<boolean>;
  /** Writes the result of an attempt that the delivery has already given up as lost. */
  recordLate(delivery: Delivery, attempt: Attempt): Promise<void>;
  /** One page as the contract's list shows it, newest first, and how many there are in all, of a status and an event. */
  page(webhookId: string, slice: Slice & DeliveryFilter): Promise<Page<{ readonly id: string }>>;
  /**
   * A page of those made from a time on, newest first, and the `beforeId` of the next page; null: this is the last one.
   * The list may be behind by what a moment changed.
   */
  since(
    webhookId: string,
    since: Date,
    page: Pick<Slice, "limit" | "beforeId">,
  ): Promise<{ readonly rows: readonly ListedDelivery[]; readonly next: string | null }>;
  /** Every attempt, oldest first. */
  history(delivery: Delivery): Promise<readonly Attempt[]>;
}

/** Wakes workers for deliveries. Times are never early; a wait longer than a queue can hold takes several. */
export interface WakeUps {
  send(wakeUps: readonly BookedWakeUp[]): Promise<void>;
}

/** Which workers make an attempt: slow webhooks have some of their own, so that they can't hold up the others. */
export type DeliveryQueue = "quick" | "slow";

/** A wake-up, when it is for, and by whom; a retry waits in the quick queue, whose workers hand it over if need be. */
export interface BookedWakeUp extends WakeUp {
  readonly webhookId: string;
  readonly at: Date;
  readonly queue: DeliveryQueue;
}

/** Turns of slow webhooks, so that a dead receiver binds a few attempts only, over all workers. */
export interface Semaphore {
  /** False when as many attempts as may be are open already. */
  take(webhookId: string, holder: string, until: Date): Promise<boolean>;
  giveBack(webhookId: string, holder: string): Promise<void>;
}

/** What leaves for a webhook. */
export interface SignedRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What came back: `code` null and `problem` in words when no status came in time. */
export type Answer = Omit<Outcome, "endedAt">;

/** Makes one POST, within an attempt's time. Never rejects for what a receiver does. */
export interface Sender {
  post(request: SignedRequest): Promise<Answer>;
}
