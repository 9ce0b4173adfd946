import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

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

const FOLDER = join(import.meta.dirname, "bugs");

/** All bugs that the judge plants. */
export const BUGS: readonly Bug[] = readdirSync(FOLDER).flatMap((file) =>
  bugsIn(readFileSync(join(FOLDER, file), "utf8")),
);

/**
 * A bug is a paragraph: what it says behind `#`; its id, its file and the tests near it; its text as it should be behind
 * `-`, and as it is with the bug behind `+`. Other paragraphs say what the file is about.
 */
function bugsIn(text: string): readonly Bug[] {
  const paragraphs = text.split("\n\n").filter((one) => one.startsWith("# "));
  return paragraphs.map((paragraph) => {
    const [says = "", names = "", ...lines] = paragraph.replace(/\n$/, "").split("\n");
    const [id = "", file = "", ...near] = names.split(" ");
    const behind = (mark: string) =>
      lines
        .filter((line) => line.startsWith(mark))
        .map((line) => line.slice(1))
        .join("\n");
    return { id, says: says.slice(2), file, from: behind("-"), to: behind("+"), near };
  });
}

/** The file's text with the bug in it; throws where the code has moved since the bug was written. */
export function plantedIn(text: string, { id, file, from, to }: Bug): string {
  const places = text.split(from).length - 1;
  if (places !== 1) throw new Error(`bug ${id}: its text occurs ${places} times in ${file}`);
  return text.replace(from, () => to);
}
