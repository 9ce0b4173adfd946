/** An entry's number, and what lists show of it. */
export type ListedEntry = readonly [sequence: number, listed: string];

/** Entries of the audit log as lists show them, by their numbers. */
export interface RememberedEntries {
  /** Whether anything of a partition is known. */
  knows(pk: string): boolean;
  read(pk: string, sequence: number): string | undefined;
  /** Keeps of a page what was asked for before, too. */
  add(pk: string, page: readonly ListedEntry[]): void;
}

type Entries = Map<string, Map<number, string>>;

/** Characters of entries that one process remembers, at most twice: some megabytes. */
const MOST_CHARACTERS = 2_000_000;

/** Pages of which a process knows that they were asked for. */
const MOST_ASKED = 32;

/** A page that was asked for, by its first and last number. */
interface AskedPage {
  readonly pk: string;
  readonly newest: number;
  readonly oldest: number;
}

/**
 * What one process has read of audit logs. An entry never changes, and its number is never given to another, so whoever
 * looks at the same pages again, as a console does, asks DynamoDB for what is new. What was asked for lately is in the
 * younger of two generations; when that one is full, it becomes the older one, and the one that was older is forgotten.
 * What was asked for once is not kept: nobody may ask again, and what outlives the runtime's quick collections of memory
 * makes it collect all of it, which holds up every request for some 10 ms.
 */
export function rememberedEntries(mostCharacters = MOST_CHARACTERS): RememberedEntries {
  let [young, old]: [Entries, Entries] = [new Map(), new Map()];
  let characters = 0;
  const asked: AskedPage[] = [];

  const keep = (pk: string, sequence: number, listed: string) => {
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
      if (older !== undefined) keep(pk, sequence, older);
      return older;
    },
    add(pk, page) {
      if (page.length === 0) return;
      const before = asked.filter((other) => other.pk === pk);
      for (const [sequence, listed] of page) {
        const isAskedAgain = before.some(({ newest, oldest }) => oldest <= sequence && sequence <= newest);
        if (isAskedAgain) keep(pk, sequence, listed);
      }
      const numbers = page.map(([sequence]) => sequence);
      asked.push({ pk, newest: Math.max(...numbers), oldest: Math.min(...numbers) });
      if (asked.length > MOST_ASKED) asked.shift();
    },
  };
}
