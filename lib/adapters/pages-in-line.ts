import pLimit from "p-limit";

/**
 * How many pages one endpoint's function reads of one store at once. PostgreSQL and DynamoDB's emulator share their
 * processors among all that they are asked: whoever came first would wait for those who came after him. In turn, the
 * slowest of a hundred answers take about a fifth less (`npm run bench:api`).
 */
const PAGES_AT_ONCE = 3;

/** Whoever takes longer goes on outside the line, so that what is stuck holds up nobody else for long. */
const TURN_MILLISECONDS = 1_000;

/** Reads a page in its turn. */
export type PagesInLine = <Page>(read: () => Promise<Page>) => Promise<Page>;

/** A line of those who want pages of one store; their turns begin in the order in which they came. */
export function pagesInLine(turnMilliseconds = TURN_MILLISECONDS): PagesInLine {
  const line = pLimit(PAGES_AT_ONCE);
  return (read) =>
    new Promise((resolve, reject) => {
      line(() => {
        const page = Promise.try(read);
        page.then(resolve, reject);
        return endOfTurn(page, turnMilliseconds);
      });
    });
}

/** Resolves when a page was read, has failed, or takes too long. */
const endOfTurn = (page: Promise<unknown>, turnMilliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, turnMilliseconds);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    page.then(end, end);
  });
