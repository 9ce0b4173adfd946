/**
 * What travels through the queues: pointers, never rows. The wire keeps snake_case; workers parse at the door. A field
 * that a version does not know is ignored, one that it misses has the default named here, so that neighbours in time
 * understand each other.
 */

/** Scheduler to `fanOut`, in each period of an active mapping: `scheduled_at` is the period's first minute (ISO 8601). */
export interface TickMessage {
  readonly workspace_id: string;
  readonly mapping_id: string;
  readonly scheduled_at: string;
}

/**
 * One cycle of one mapping. A `beat` names its ten-second `slot` (epoch seconds) and is dropped when 20 s late or when
 * another cycle had that slot; a `poll` (requested) is never dropped; a `pull` says that the probe saw changes, or with
 * `wakes` that one side was announced (a version that does not know it runs both).
 */
export interface CycleMessage {
  readonly workspace_id: string;
  readonly mapping_id: string;
  readonly kind: "beat" | "poll" | "pull";
  readonly slot: number | null;
  /** Names a poll, so that its end can be waited for; left out: no caller waits. */
  readonly mark?: string | undefined;
  readonly wakes?: Wakes | undefined;
}

/** The side that a wake-up announces: captured rows to push, or changed records to pull. */
export type Wakes = "push" | "pull";

/** Cycles of one workspace in one message: `also` (default none) names mappings whose cycles are asked for as well. */
export interface CyclesMessage extends CycleMessage {
  readonly also?: readonly string[] | undefined;
}

/** Mappings that one message of the beat asks for at most: most are idle, and are looked at together. */
export const MAPPINGS_PER_MESSAGE = 50;

/** Cycles of a workspace that one invocation works on at once: what its database is to bear (infra/SIZING.md). */
export const CYCLES_AT_ONCE = 10;

/** One message for the same of several mappings of a workspace. */
export function cyclesMessage<Rest extends object>([first = "", ...also]: readonly string[], rest: Rest) {
  return { ...rest, mapping_id: first, ...(also.length > 0 && { also }) };
}

/** The cycles that a message asks for, each as a message of its own. */
export const cyclesIn = ({ also = [], ...first }: CyclesMessage): readonly CycleMessage[] => [
  first,
  ...also.map((mapping_id) => ({ ...first, mapping_id })),
];

/** Long work of one mapping, resumable by any later invocation. `dry_run` only compares, of an inactive mapping as well. */
export interface LoadMessage {
  readonly workspace_id: string;
  readonly mapping_id: string;
  readonly kind: "load" | "backfill" | "sweep" | "dry_run";
}

/**
 * A change of configuration to carry out; with `import_id` the rest of an import's plan is rolled forward first. With
 * `anew` (default false) table and triggers are created although they are recorded as created: the database may be
 * another one. With `describe` (default false) the worker only checks whether Salesforce has changed its fields. With
 * `upgrade` (default false) and no mapping the workspace's schema is brought to this version.
 */
export interface ProvisioningMessage {
  readonly workspace_id: string;
  readonly mapping_id: string | null;
  readonly import_id: string | null;
  readonly anew?: boolean | undefined;
  readonly describe?: boolean | undefined;
  readonly upgrade?: boolean | undefined;
}

/** A message on its way into a queue. */
export interface Outgoing<Message> {
  readonly message: Message;
  /** Seconds before it is visible, at most 900; the queue's own delay when left out. */
  readonly delaySeconds?: number | undefined;
}

/** Where messages of one kind are sent. */
export interface Queue<Message> {
  /** Rejects when one of them could not be sent; others may then have been. */
  send(messages: readonly Outgoing<Message>[]): Promise<void>;
}

/** An event waits to be dispatched. */
export interface EventMessage {
  readonly workspace_id: string;
  readonly event_id: string;
}

/** What the queues hold whose messages belong to workspaces. */
export interface QueueMessages {
  readonly cycles: CyclesMessage;
  readonly loads: LoadMessage;
  readonly provisioning: ProvisioningMessage;
  readonly events: EventMessage;
}

/** These queues. */
export type Queues = { readonly [Name in keyof QueueMessages]: Queue<QueueMessages[Name]> };

/**
 * An attempt of a delivery is wanted. `automatic` counts the schedule's attempts from 1, `manual` counts the requests
 * for one; a delivery that has come that far already drops the message, one whose time has not come sends it again.
 */
export interface DeliveryMessage {
  readonly delivery_id: string;
  readonly kind: "automatic" | "manual";
  readonly number: number;
}
