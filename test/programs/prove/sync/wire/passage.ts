/** Who has a connection: a function's process. */
export interface Caller {
  readonly pid: number;
  readonly worker: string;
}

/** A durable effect that passes by: before it is handed on, or done with its answer still held back. */
export interface Passage extends Caller {
  /** What happens, by worker, place and statement or call: a named point. */
  readonly point: string;
  readonly when: "before" | "after";
}

/** Is asked at each passage. `cut`: the caller is dead, nothing more is handed on. */
export type Gate = (passage: Passage) => Promise<"go" | "cut">;

/** A save that the org was asked for by the engine, as the wire saw it. */
export interface OrgWrite {
  /** The process that sent it. */
  readonly sender: number;
  readonly operation: string;
  readonly object: string;
  /** When it was asked for, and then handed on to the org; and when the org's answer was complete, null: there was none. */
  sentAt: number;
  answeredAt: number | null;
  /** It was held back while its sender was stopped: between check and send. */
  wasHeld: boolean;
  readonly records: readonly Readonly<Record<string, string>>[];
  /** By record; null without an answer. */
  results: readonly { readonly id: string; readonly success: boolean }[] | null;
}

/** What the wire has seen go to the org. */
export interface OrgLedger {
  readonly writes: OrgWrite[];
  /** Jobs of the Bulk API by their ids. */
  readonly jobs: Map<string, { readonly operation: string; readonly object: string }>;
  /** Requests that were answered, by worker and by the label under which Salesforce counts them. */
  readonly calls: Record<string, Record<string, number>>;
  /** All that were passed on, whatever their results. */
  readonly sent: Record<string, Record<string, number>>;
}
