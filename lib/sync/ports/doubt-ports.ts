import type { ClaimedChange } from "../../model/change/change.ts";
import type { Lease } from "./lease-ports.ts";

/** One record's write that an earlier cycle sent without recording its result. */
export interface Doubt {
  /** The changes that were folded into it, in log order. */
  readonly changes: readonly ClaimedChange[];
  readonly sentAt: Date;
  readonly batchId: string;
}

/** Writes that earlier cycles sent without learning their end. */
export interface Recovered {
  readonly doubts: readonly Doubt[];
  /** Jobs of the Bulk API that may still be running, oldest first; `doubtsIn` gives their writes. */
  readonly jobs: readonly { readonly batchId: string; readonly sentAt: Date; readonly lookedAt: Date }[];
}

/** A finding of a rewound change, and of what it was found. */
export interface Finding {
  readonly changeIds: readonly number[];
  readonly message: string;
}

/** Changes of a database that was rewound, of which nothing says whether they were sent. */
export interface RewoundStore {
  /** What waits of the mapping becomes PENDING in this batch, as if it had been sent now; what was captured later does not. */
  holdWaiting(lease: Lease, batchId: string, capturedUntil: Date | null): Promise<void>;
  /** Writes of which nothing was found yet, of at most 1,000 rows. */
  rewoundDoubts(lease: Lease): Promise<readonly Doubt[]>;
  noteFindings(lease: Lease, findings: readonly Finding[]): Promise<void>;
}

/** What earlier cycles left behind. */
export interface DoubtStore {
  /** PENDING changes of other fences: those never marked as sent return to NEW, the others are answered. */
  recover(lease: Lease): Promise<Recovered>;
  /** What is still in doubt of one batch, from now on this lease's to settle. */
  doubtsIn(lease: Lease, batchId: string): Promise<readonly Doubt[]>;
  /** Records that a job was polled just now. */
  noteLook(lease: Lease, batchId: string): Promise<void>;
}
