import pLimit from "p-limit";

/**
 * How many pages this process reads of one store at once. PostgreSQL and DynamoDB's emulator share their processors among
 * all that they are asked: whoever came first would wait for those who came after him, and the slowest answer in a hundred
 * took three times as long as most, where it now takes less than twice (`npm run bench:api`).
 */
const PAGES_AT_ONCE = 3;

/** Reads a page in its turn. */
export type PagesInLine = <Page>(read: () => Promise<Page>) => Promise<Page>;

/** A line of those who want pages of one store, served in the order in which they came. */
export const pagesInLine = (): PagesInLine => pLimit(PAGES_AT_ONCE);

/** Thrown by `unlessTooLate`. */
export class NoTurn extends Error {
  constructor(milliseconds: number) {
    super(`no turn within ${milliseconds} ms`);
    this.name = "NoTurn";
  }
}

/** The same line for whoever waits no longer than so many milliseconds for his turn, and is then told so by `NoTurn`. */
export const unlessTooLate =
  (inLine: PagesInLine, milliseconds: number): PagesInLine =>
  (read) =>
    new Promise((resolve, reject) => {
      let isLate = false;
      const giveUp = setTimeout(() => {
        isLate = true;
        reject(new NoTurn(milliseconds));
      }, milliseconds);
      inLine(async () => {
        clearTimeout(giveUp);
        if (!isLate) await Promise.try(read).then(resolve, reject);
      });
    });
