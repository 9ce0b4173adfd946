/** One mistake in the product, as a change of its text. */
export interface Bug {
  readonly id: string;
  /** What a user would suffer. */
  readonly says: string;
  /** The file it is planted in, relative to the project. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly from: string;
  readonly to: string;
  /** Test files (folder and name below `test`, without the ending) and folders that ought to notice it, nearest first. */
  readonly near: readonly string[];
}

/** The file's text with the bug in it; throws where the code has moved since the bug was written. */
export function plantedIn(text: string, { id, file, from, to }: Bug): string {
  const places = text.split(from).length - 1;
  if (places !== 1) throw new Error(`bug ${id}: its text occurs ${places} times in ${file}`);
  return text.replace(from, () => to);
}
