import { expect, test } from "vitest";
import type * as z from "zod/mini";
import { readEndpoints } from "../../lib/infra/describe-api/read-endpoints.ts";

/** Texts that some input takes. */
const RIGHT = [
  ...["something", "a@example.com", "https://example.com/hooks", "postgres://u@example.com/d", "salesforce", "auto"],
  ...[
    "0123456789abcdef",
    "Name = 'x y'",
    "12",
    "rows:5",
    "record:12",
    "failed:12",
    "2026-01-31",
    "2026-01-31T00:00:00Z",
  ],
];

/** What makes a text more than it looks like: controls (line breaks and tabs are some), ends of lines, directions, halves. */
const MARKS = [..."\u0000\u0007\b\t\n\r\u007f\u0085\u009b\u2028\u2029", "\u001b[31m"];
const DIRECTIONS = ["\u202a", "\u202e", "\u2066", "\u2069", "\ud800"];

/** A secret may hold anything, and is shown to no one, and so may the value of a row; a filter may have several lines. */
const ANYTHING = ["password", "client_secret", "refresh_token", "private_key", "key", "find"];
const OVER_LINES = ["\t", "\n", "\r"];

interface Definition {
  readonly type: string;
  readonly shape?: Readonly<Record<string, z.ZodMiniType>>;
  readonly element?: z.ZodMiniType;
  readonly innerType?: z.ZodMiniType;
  readonly in?: z.ZodMiniType;
  readonly options?: readonly z.ZodMiniType[];
}

/** Every text within a schema, by its path. */
function textsIn(schema: z.ZodMiniType, path: string): readonly (readonly [string, z.ZodMiniType])[] {
  const { type, shape = {}, element, innerType, in: given, options = [] } = schema._zod.def as unknown as Definition;
  if (type === "string") return [[path, schema]];
  const inner = [element, innerType, given, ...options].filter((one) => one !== undefined);
  return [
    ...Object.entries(shape).flatMap(([name, part]) => textsIn(part, `${path}.${name}`)),
    ...inner.flatMap((part) => textsIn(part, path)),
  ];
}

const isTaken = (schema: z.ZodMiniType, text: string): boolean => schema.safeParse(text).success;

const endpoints = await readEndpoints();
const texts = [...endpoints].flatMap(([name, { input }]) => {
  const { shape = {} } = (input?._zod.def ?? {}) as unknown as Definition;
  return Object.entries(shape).flatMap(([part, of]) => textsIn(of, part === "body" ? name : `${name}?${part}`));
});

test.each(texts)("%s is one line", (path, schema) => {
  const right = RIGHT.filter((text) => isTaken(schema, text));
  const name = path.split(/[.?]/).at(-1) ?? "";
  const within = (text: string, mark: string) => text.slice(0, text.length / 2) + mark + text.slice(text.length / 2);

  if (ANYTHING.includes(name)) return;
  expect(right).not.toEqual([]);
  const taken = [...MARKS, ...DIRECTIONS].filter((mark) => right.some((text) => isTaken(schema, within(text, mark))));
  const allowed = name === "filter" ? OVER_LINES : [];
  expect(taken.filter((mark) => !allowed.includes(mark))).toEqual([]);
});

test("all texts that people give are looked at", () => {
  const given = ["create-webhook.description", "create-token.owner", "create-mapping.fields", "switch-pause.reason"];
  const nested = ["set-salesforce.credentials.username", "list-changes?table"];

  expect(texts.map(([path]) => path)).toEqual(expect.arrayContaining([...given, ...nested]));
});

test("names may be in other scripts", () => {
  const names = texts.filter(([path]) => path === "rename-workspace.name");

  expect(names).not.toEqual([]);
  expect(names.every(([, schema]) => isTaken(schema, "שלום 株式会社 Ünïcode 👩‍🚀"))).toBe(true);
});
