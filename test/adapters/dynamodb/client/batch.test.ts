import type { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { expect, test } from "vitest";
import { deleteItems, insertItems, putItems, readItems } from "../../../../lib/adapters/dynamodb/client/batch.ts";
import type { Database } from "../../../../lib/adapters/dynamodb/client/client.ts";

type Item = Record<string, unknown>;

/** One of the four batch calls: what it names in a call, and how DynamoDB answers for the part that it did not do. */
interface Kind {
  readonly name: string;
  readonly perCall: number;
  readonly run: (database: Database, items: readonly Item[]) => Promise<unknown>;
  readonly named: (input: never) => readonly Item[];
  readonly answer: (asked: readonly Item[], done: ReadonlySet<unknown>) => object;
}

interface Writes {
  readonly RequestItems: Record<string, readonly Record<string, { readonly Item?: Item; readonly Key?: Item }>[]>;
}

const writing = (request: "PutRequest" | "DeleteRequest", part: "Item" | "Key") => ({
  perCall: 25,
  named: ({ RequestItems }: Writes) => (RequestItems["t"] ?? []).map((one) => one[request]?.[part] ?? {}),
  answer: (asked: readonly Item[], done: ReadonlySet<unknown>) => ({
    UnprocessedItems: { t: asked.filter(({ pk }) => !done.has(pk)).map((item) => ({ [request]: { [part]: item } })) },
  }),
});

const KINDS: readonly Kind[] = [
  { name: "put", run: (database, items) => putItems(database, "audit", items), ...writing("PutRequest", "Item") },
  { name: "delete", run: (database, keys) => deleteItems(database, "audit", keys), ...writing("DeleteRequest", "Key") },
  {
    name: "read",
    perCall: 100,
    run: (database, items) => readItems(database, "audit", items),
    named: ({ RequestItems }: { RequestItems: Record<string, { Keys: readonly Item[] }> }) =>
      RequestItems["t"]?.Keys ?? [],
    answer: (asked, done) => ({
      Responses: { t: asked.filter(({ pk }) => done.has(pk)) },
      UnprocessedKeys: { t: { Keys: asked.filter(({ pk }) => !done.has(pk)) } },
    }),
  },
  {
    name: "insert",
    perCall: 25,
    run: (database, items) => insertItems(database, "audit", items),
    named: ({ Statements }: { Statements: readonly { Parameters: readonly unknown[] }[] }) =>
      Statements.map(({ Parameters: [pk] }) => ({ pk })),
    answer: (asked, done) => ({
      Responses: asked.map(({ pk }) => (done.has(pk) ? {} : { Error: { Code: "ThrottlingError" } })),
    }),
  },
];

/** A DynamoDB that does not do an item of a call as long as `fails` says, by its number and how often it was asked for. */
function failing(kind: Kind, fails: (number: number, times: number) => boolean) {
  const [sizes, asked, done]: [number[], Map<number, number>, number[]] = [[], new Map(), []];
  const client = {
    send: async ({ input }: { readonly input: never }) => {
      const items = kind.named(input);
      sizes.push(items.length);
      for (const { pk } of items) {
        const number = Number(pk);
        asked.set(number, (asked.get(number) ?? 0) + 1);
        if (!fails(number, asked.get(number) ?? 0)) done.push(number);
      }
      return kind.answer(items, new Set(done.map(String)));
    },
  };
  const database = { client: client as unknown as DynamoDBDocumentClient, table: () => "t", keptDays: {} };
  return { database: database as unknown as Database, sizes, done };
}

const items = (count: number) => Array.from({ length: count }, (_, number) => ({ pk: String(number) }));
const inOrder = (numbers: readonly number[]) => numbers.toSorted((one, other) => one - other);

const [PUT] = KINDS as [Kind];

test.each([
  ["one, once", (number: number, times: number) => number === 3 && times === 1, [10, 1]],
  ["all, as it throttles", (_: number, times: number) => times === 1, [10, 10]],
  ["every second, twice", (number: number, times: number) => number % 2 === 0 && times <= 2, [10, 5, 5]],
  ["none", () => false, [10]],
] as const)("of a batch what DynamoDB did not do is asked for again, and only that: %s", async (_, fails, sizes) => {
  const dynamodb = failing(PUT, fails);

  await PUT.run(dynamodb.database, items(10));

  expect(inOrder(dynamodb.done)).toEqual(items(10).map(({ pk }) => Number(pk)));
  expect(dynamodb.sizes).toEqual(sizes);
});

test.each(KINDS)("a batch to $name that is larger than one call loses none of any part", async (kind) => {
  const all = items(2 * kind.perCall + 3);
  const dynamodb = failing(kind, (number, times) => number % 7 === 0 && times === 1);

  const found = await kind.run(dynamodb.database, all);

  expect(inOrder(dynamodb.done)).toEqual(all.map(({ pk }) => Number(pk)));
  expect(Math.max(...dynamodb.sizes)).toBe(kind.perCall);
  if (kind.name === "read") expect(found).toHaveLength(all.length);
});

test("a batch of which something is never done is no silent loss", async () => {
  const dynamodb = failing(PUT, (number) => number === 3);

  await expect(PUT.run(dynamodb.database, items(10))).rejects.toThrow(/^1 items were not .* in 8 attempts$/);
});
