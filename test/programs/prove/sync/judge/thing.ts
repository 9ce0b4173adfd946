import type { Deed, Held, Save, Seen } from "./evidence.ts";

/** What the judge knows of one thing on both sides. */
export interface Thing {
  readonly table: string;
  readonly tag: string;
  readonly rows: readonly Held[];
  readonly records: readonly Held[];
  readonly deletedRecords: readonly Held[];
  readonly application: readonly Deed[];
  readonly colleagues: readonly Deed[];
  readonly seen: readonly Seen[];
  readonly saves: readonly Save[];
}

/** Records a finding about a thing. */
export type Complain = (name: string, about: { readonly table: string; readonly tag: string }, what: string) => void;
