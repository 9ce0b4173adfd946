import pLimit from "p-limit";

/**
 * How many pages one endpoint's function reads of one store at once. PostgreSQL and DynamoDB's emulator share their
 * processors among all that they are asked: whoever came first would wait for those who came after him, and the slowest
 * answer in a hundred took three times as long as most, where it now takes less than twice (`npm run bench:api`).
 */
const PAGES_AT_ONCE = 3;

/** Whoever takes longer goes on outside the line, so that what is stuck holds up nobody else for long. */
const TURN_MILLISECONDS = 1_000;

/** Reads a page in its turn. */
export type PagesInLine = <Page>(read: () => Promise<Page>) => Promise<Page>;

/** A line of those who want pages of one store; their turns begin in the order in which they came. */
export function pagesInLine(): PagesInLine {
  const line = pLimit(PAGES_AT_ONCE);
  return (read) =>
    new Promise((resolve, reject) => {
      line(() => {
        const page = Promise.try(read);
        page.then(resolve, reject);
        return endOfTurn(page);
      });
    });
}

/** Resolves when a page was read, has failed, or takes too long. */
const endOfTurn = (page: Promise<unknown>): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, TURN_MILLISECONDS);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    page.then(end, end);
  });
