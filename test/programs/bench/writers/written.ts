/** What an application's writers do in a process of their own, until their standard input ends. */
export interface WritersOrder {
  readonly url: string;
  /** One table that Bridge does not know, and one that it does; both have rows with the keys from 1. */
  readonly tables: readonly [plain: string, mapped: string];
  readonly rows: number;
}

export const KINDS = ["UPDATE", "INSERT", "DELETE"] as const;
type Kind = (typeof KINDS)[number];

/** What the writers print as they end: milliseconds of each statement, and what they saw of waits for Bridge's locks. */
export interface Written {
  readonly plain: Readonly<Record<Kind, readonly number[]>>;
  readonly mapped: Readonly<Record<Kind, readonly number[]>>;
  /** The longest wait in milliseconds, to some 10 ms, by the beginning of what Bridge's session did. */
  readonly behind: Readonly<Record<string, number>>;
}
