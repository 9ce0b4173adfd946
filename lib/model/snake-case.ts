/**
 * Outside (answers, stored items, columns) names are in snake_case and times are texts. Inside they are in camelCase, and
 * times are `Date`s. A zod schema of the outside says which names are ours: those of its objects, also within lists. All
 * other values, such as maps and unions, pass unchanged, their keys included.
 */

/** What is read of a zod schema. */
interface Schema {
  readonly _zod: { readonly def: { readonly type: string }; readonly input: unknown; readonly output: unknown };
}

/** A value of the schema as the program holds it. */
export type CamelCased<Of> = Of extends {
  readonly _zod: { readonly def: infer Definition; readonly output: infer Output };
}
  ? Definition extends { readonly type: "object"; readonly shape: infer Shape }
    ? { readonly [Name in keyof Shape as CamelCasedName<Name>]: CamelCased<Shape[Name]> }
    : Definition extends { readonly type: "array"; readonly element: infer Element }
      ? readonly CamelCased<Element>[]
      : Definition extends { readonly type: "nullable"; readonly innerType: infer Inner }
        ? CamelCased<Inner> | null
        : Definition extends { readonly type: "default"; readonly innerType: infer Inner }
          ? CamelCased<Inner>
          : Definition extends { readonly format: "datetime" }
            ? Date
            : Output
  : never;

type CamelCasedName<Name> = Name extends `_${infer Rest}`
  ? `_${CamelCasedName<Rest>}`
  : Name extends `${infer Word}_${infer Rest}`
    ? `${Word}${Capitalize<CamelCasedName<Rest>>}`
    : Name;

/** The value in snake_case: the schema's names and no others, in its order. */
export function toSnakeCase<Of extends Schema>(schema: Of, value: CamelCased<Of>): Of["_zod"]["input"] {
  return converterOf(schema, "snake_case")(value);
}

/** And back. The value is trusted; a number may be a text, as PostgreSQL sends a `bigint`, and a missing value is null. */
export function toCamelCase<Of extends Schema>(schema: Of, value: unknown): CamelCased<Of> {
  return converterOf(schema, "camelCase")(value) as CamelCased<Of>;
}

type Spelling = "snake_case" | "camelCase";
type Converter = (value: unknown) => unknown;

/** Each schema is walked once. */
const converters = { snake_case: new WeakMap<Schema, Converter>(), camelCase: new WeakMap<Schema, Converter>() };

function converterOf(schema: Schema, to: Spelling): Converter {
  const known = converters[to].get(schema);
  if (known !== undefined) return known;
  const made = makeConverter(schema._zod.def as Definition, to);
  converters[to].set(schema, made);
  return made;
}

type Definition =
  | { readonly type: "object"; readonly shape: Readonly<Record<string, Schema>> }
  | { readonly type: "array"; readonly element: Schema }
  | { readonly type: "nullable" | "default"; readonly innerType: Schema }
  | { readonly type: "number" | "pipe" }
  | { readonly type: "string"; readonly format?: string };

function makeConverter(definition: Definition, to: Spelling): Converter {
  switch (definition.type) {
    case "object":
      return objectConverter(definition.shape, to);
    case "array": {
      const convert = converterOf(definition.element, to);
      return (values) => (values as readonly unknown[]).map((value) => convert(value));
    }
    case "nullable":
    case "default": {
      const convert = converterOf(definition.innerType, to);
      return (value) => (value === null || value === undefined ? null : convert(value));
    }
    case "number":
      return Number;
    case "string":
      if (definition.format === "datetime") return to === "camelCase" ? toDate : toText;
      break;
    case "pipe": // a text that the schema itself has read as a time
      if (to === "snake_case") return (value) => (value instanceof Date ? toText(value) : value);
  }
  return (value) => value;
}

function objectConverter(shape: Readonly<Record<string, Schema>>, to: Spelling): Converter {
  const members = Object.entries(shape).map(([name, schema]) => {
    const ours = name.replace(/(?<=[^_])_(.)/g, (_, first: string) => first.toUpperCase());
    const [from, into] = to === "camelCase" ? [name, ours] : [ours, name];
    return { from, into, convert: converterOf(schema, to) };
  });
  return (value) => {
    const converted: Record<string, unknown> = {};
    for (const { from, into, convert } of members) converted[into] = convert((value as typeof converted)[from]);
    return converted;
  };
}

const toDate = (text: unknown): Date => new Date(String(text));
const toText = (date: unknown): string => (date as Date).toISOString();
