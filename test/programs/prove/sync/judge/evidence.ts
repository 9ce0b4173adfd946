/** Everything that the judge looks at, as plain rows. Names of columns are in lower case on both sides. */
export interface Evidence {
  /** What is in the tables. */
  readonly rows: readonly Held[];
  /** What the org holds, deleted records too. */
  readonly records: readonly (Held & { readonly isDeleted: boolean })[];
  readonly log: readonly Logged[];
  /** Failed changes that an operator retried, by their ids, once for each time. */
  readonly retried: readonly number[];
  readonly totals: readonly { readonly table: string; readonly success: number; readonly failed: number }[];
  readonly conflicts: readonly Conflict[];
  /** Events of rows that were put into the outbox, those that are in it still, and those that reached a receiver. */
  readonly announced: readonly {
    readonly eventId: string;
    readonly event: string;
    readonly logId: number | null;
    readonly at: number;
  }[];
  readonly waitingToBeAnnounced: readonly string[];
  readonly heard: readonly { readonly eventId: string; readonly logId: number | null }[];
  /** In the order in which it was done. */
  readonly application: readonly Deed[];
  readonly colleagues: readonly Deed[];
  /** When nothing captured what the application did to a table: capture was off, or the table swapped. */
  readonly uncaptured: readonly { readonly table: string; readonly from: number; readonly until: number }[];
  readonly merged: readonly Merged[];
  /** Every change of a row, in order. */
  readonly seen: readonly Seen[];
  readonly saves: readonly Save[];
  /** Cycles that said that saves of theirs came after the lease was lost. */
  readonly lateReports: readonly { readonly table: string; readonly at: number }[];
  readonly struck: readonly Struck[];
  readonly restored: readonly Restored[];
  readonly calls: Calls;
}

/** One side, or both, put back to an earlier time. Epoch milliseconds. */
export interface Restored {
  readonly what: "PostgreSQL" | "DynamoDB" | "both";
  readonly copiedAt: number;
  readonly restoredAt: number;
  /** Changes of the application, and events of rows, that the database does not know any more. */
  readonly undone: readonly Deed[];
  readonly unannounced: readonly string[];
  /** Changes that waited when a person decided: for our values, or for those that Salesforce had got since the copy. */
  readonly decided: readonly (Pick<Deed, "table" | "tag" | "action" | "values"> & { readonly isOurs: boolean })[];
}

/** What was killed or frozen: a function's process, or a part by its name. Epoch milliseconds. */
export interface Struck {
  readonly whom: number | "host" | "PostgreSQL" | "Salesforce";
  readonly at: number;
}

/** A record that was merged into another one, its master. */
export interface Merged {
  readonly table: string;
  readonly tag: string;
  readonly id: string;
  readonly master: string;
}

/** A row or a record. */
export interface Held {
  readonly table: string;
  readonly id: string;
  readonly sfid: string | null;
  readonly tag: string;
  readonly values: Values;
}

export type Values = Readonly<Record<string, string | null>>;

/** What users of one side did. */
export interface Deed {
  readonly table: string;
  readonly tag: string;
  /** The row; null for a record. */
  readonly recordId: number | null;
  readonly action: "insert" | "update" | "delete";
  readonly values: Values;
  /** Epoch milliseconds. */
  readonly begunAt: number;
  readonly endedAt: number;
  /** False: whether it came to be is not known. */
  readonly isSure: boolean;
}

export interface Logged {
  readonly id: number;
  readonly table: string;
  readonly recordId: number;
  readonly action: string;
  readonly state: string;
  readonly message: string | null;
  readonly values: Values;
}

export interface Conflict {
  readonly sfid: string;
  readonly recordId: number;
  readonly column: string | null;
  readonly postgres: string | null;
  readonly salesforce: string | null;
  readonly winner: string;
}

export interface Seen {
  readonly table: string;
  readonly by: "bridge" | "application";
  readonly recordId: number;
  readonly old: Values | null;
  readonly now: Values | null;
  readonly at: number;
}

/** One record's part of a save that the engine asked the org for. */
export interface Save {
  readonly table: string;
  readonly operation: string;
  readonly sfid: string | null;
  readonly tag: string | null;
  readonly values: Values;
  readonly sentAt: number;
  /** Null: no answer was seen. */
  readonly answeredAt: number | null;
  readonly success: boolean | null;
  /** The process that sent it. */
  readonly sender: number;
  /** Its sender was stopped between its last check and the sending. */
  readonly wasHeld: boolean;
}

export interface Calls {
  /** By label, as the engine booked them and as they went over the wire: answered in peace, else all that were sent. */
  readonly engine: Readonly<Record<string, number>>;
  readonly wire: Readonly<Record<string, number>>;
  /** The org's own count, without the colleagues'. */
  readonly org: number;
  /** Whether nothing was killed or broken while they were counted. */
  readonly isQuiet: boolean;
}

/** What the judge knows of one thing on both sides. */
export interface Thing {
  readonly table: string;
  readonly tag: string;
  readonly rows: Held[];
  readonly records: Held[];
  readonly deletedRecords: Held[];
  readonly application: Deed[];
  readonly colleagues: Deed[];
  readonly seen: Seen[];
  readonly saves: Save[];
}

/** Records a finding about a thing. */
export type Complain = (name: string, about: { readonly table: string; readonly tag: string }, what: string) => void;
