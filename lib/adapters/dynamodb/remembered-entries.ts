/** Entries of the audit log as lists show them, by their numbers. */
export interface RememberedEntries {
  /** Whether anything of a partition is known. */
  knows(pk: string): boolean;
  read(pk: string, sequence: number): string | undefined;
  add(pk: string, sequence: number, listed: string): void;
}

type Entries = Map<string, Map<number, string>>;

/** Characters of entries that one process remembers, at most twice: some megabytes. */
const MOST_CHARACTERS = 2_000_000;

/**
 * What one process has read of audit logs. An entry never changes, and its number is never given to another, so whoever
 * looks at the same pages again, as a console does, asks DynamoDB for what is new. What was asked for lately is in the
 * younger of two generations; when that one is full, it becomes the older one, and the one that was older is forgotten.
 */
export function rememberedEntries(mostCharacters = MOST_CHARACTERS): RememberedEntries {
  let [young, old]: [Entries, Entries] = [new Map(), new Map()];
  let characters = 0;

  const add = (pk: string, sequence: number, listed: string) => {
    if (young.get(pk)?.has(sequence)) return;
    if (characters + listed.length > mostCharacters) {
      [young, old] = [new Map(), young];
      characters = 0;
    }
    const entries = young.get(pk) ?? new Map<number, string>();
    young.set(pk, entries.set(sequence, listed));
    characters += listed.length;
  };
  return {
    knows: (pk) => young.has(pk) || old.has(pk),
    read(pk, sequence) {
      const listed = young.get(pk)?.get(sequence);
      if (listed !== undefined) return listed;
      const older = old.get(pk)?.get(sequence);
      if (older !== undefined) add(pk, sequence, older);
      return older;
    },
    add,
  };
}
