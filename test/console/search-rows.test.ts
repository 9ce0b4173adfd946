import { expect, test } from "vitest";
import { notSearchedEntry, type SearchedRows, searchRows } from "../../lib/console/find/search-rows.ts";

const OBJECTS = ["Account", "Contact", "Lead", "Order", "Case", "Asset", "Task", "Event", "Quote", "Opportunity"];
const MAPPINGS = OBJECTS.map((sf_object) => ({ sf_object }));

/** Requests that end when the test says so, and how many of them were under way at a time. */
function controlledRequests() {
  const requests: { readonly object: string; readonly end: (names: readonly string[] | Error) => void }[] = [];
  const seen = { underWay: 0, most: 0 };
  const search = async ({ sf_object: object }: { readonly sf_object: string }) => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly { readonly name: string }[]>();
    seen.most = Math.max(seen.most, ++seen.underWay);
    requests.push({
      object,
      end: (names) => {
        seen.underWay--;
        if (names instanceof Error) reject(names);
        else resolve(names.map((name) => ({ name })));
      },
    });
    return promise;
  };
  return { requests, seen, search };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("a search asks one mapping after the other, in their order, and shows what each has found at once", async () => {
  const { requests, seen, search } = controlledRequests();
  const shown: SearchedRows[] = [];
  const signal = new AbortController().signal;

  const searched = searchRows(MAPPINGS.slice(0, 3), search, { signal, onFound: (soFar) => shown.push(soFar) });
  for (const [at, names] of [["Ada"], [], ["Adam"]].entries()) {
    await settled();
    requests[at]?.end(names);
  }

  expect(await searched).toEqual({ found: [{ name: "Ada" }, { name: "Adam" }], notSearched: [] });
  expect(requests.map(({ object }) => object)).toEqual(["Account", "Contact", "Lead"]);
  expect(seen.most).toBe(1);
  expect(shown.map(({ found }) => found.length)).toEqual([1, 1, 2]);
});

test("mappings whose search fails, and those beyond the eighth, are named as not searched", async () => {
  const asked: string[] = [];
  const search = async ({ sf_object }: { readonly sf_object: string }) => {
    asked.push(sf_object);
    if (sf_object === "Lead" || sf_object === "Order") throw new Error("the search took longer than 5 s");
    return [];
  };
  const { signal } = new AbortController();

  const { notSearched } = await searchRows(MAPPINGS, search, { signal, onFound: () => undefined });

  expect(asked).toEqual(OBJECTS.slice(0, 8));
  expect(notSearched).toEqual(["Lead", "Order", "Quote", "Opportunity"]);
  const entries = [notSearched, [], OBJECTS].flatMap(notSearchedEntry).map(({ name }) => name);
  expect(entries).toEqual([
    "Not searched: Lead, Order, Quote, Opportunity",
    "Not searched: Account, Contact, Lead, Order, Case and 5 more",
  ]);
});

test("a search that is given up asks no further mapping, and the next one waits for its last request", async () => {
  const { requests, seen, search } = controlledRequests();
  const [first, second] = [new AbortController(), new AbortController()];
  const onFound = () => undefined;

  const givenUp = searchRows(MAPPINGS, search, { signal: first.signal, onFound });
  await settled();
  first.abort();
  const next = searchRows(MAPPINGS.slice(1, 2), search, { signal: second.signal, onFound });
  await settled();
  const whileHeld = requests.map(({ object }) => object);
  requests[0]?.end([]);
  await expect(givenUp).rejects.toThrow("aborted");
  await settled();
  requests[1]?.end(["Ada"]);

  expect(whileHeld).toEqual(["Account"]);
  expect((await next).found).toEqual([{ name: "Ada" }]);
  expect(requests.map(({ object }) => object)).toEqual(["Account", "Contact"]);
  expect(seen.most).toBe(1);
});
