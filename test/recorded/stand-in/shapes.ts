import type { XmlElement } from "../xml-elements.ts";
import { lacking } from "./compare.ts";

/** Names of a document with the types of their values, `records[].Id` → `string`; a list is as all that is in it. */
type Shape = ReadonlyMap<string, ReadonlySet<string>>;

/** How a document of ours differs from a recorded one, in a few words each; where a value is null, its type is not known. */
export function shapeDifferences(recorded: unknown, ours: unknown): readonly string[] {
  const [theirs, own] = [shapeOf(recorded), shapeOf(ours)];
  const lacks = [...theirs.keys()].filter((name) => !own.has(name) && !isBelowMissing(name, own));
  const more = [...own.keys()].filter((name) => !theirs.has(name) && !isBelowMissing(name, theirs));
  const types = [...theirs].flatMap(([name, said]) => {
    const sent = own.get(name);
    return sent && said.size > 0 && sent.size > 0 && said.isDisjointFrom(sent)
      ? [`${name} is ${[...sent].join()}, not ${[...said].join()}`]
      : [];
  });
  return [...lacking(lacks, more), ...types];
}

/** Of what is missing whole only the top is said. */
const isBelowMissing = (name: string, other: Shape): boolean => {
  const above = name.replace(/(?:\.[^.[\]]+|\[\])$/, "");
  return above !== name && above !== "" && !other.has(above);
};

function shapeOf(value: unknown): Shape {
  const shape = new Map<string, Set<string>>();
  const visit = (at: string, here: unknown) => {
    const types = shape.get(at) ?? new Set<string>();
    shape.set(at, types);
    if (here === null) return;
    types.add(Array.isArray(here) ? "array" : typeof here);
    if (Array.isArray(here)) for (const one of here) visit(`${at}[]`, one);
    else if (typeof here === "object") {
      for (const [name, inner] of Object.entries(here)) visit(at === "" ? name : `${at}.${name}`, inner);
    }
  };
  visit("", value);
  return shape;
}

/** The names of a document of XML as one of JSON; an element that is empty is null. */
export function asShape({ children, text }: XmlElement): unknown {
  if (children.length === 0) return text.trim() || null;
  const groups = Map.groupBy(children, ({ name }) => name);
  return Object.fromEntries([...groups].map(([name, all]) => [name, all.map(asShape)]));
}
