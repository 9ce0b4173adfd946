import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { afterAll, expect } from "vitest";
import { recorded } from "../recorded.ts";
import type { XmlElement } from "../xml-elements.ts";

/** A request, and what differs in the stand-in's answer to it. */
export type Found = readonly [request: string, differences: readonly string[]];

/** The recorded answer of this name. */
export function answerOf(kind: string, name: string) {
  const answer = recorded(kind).find((one) => one.name === name);
  if (!answer) throw new Error(`no answer of ${kind} is "${name}"`);
  return answer;
}

/** Compares what differs with the table of a README: a new difference fails, and in the end one that was not found. */
export function statedIn(page: string): (found: readonly Found[]) => void {
  const lines = readFileSync(resolve(import.meta.dirname, "../../..", page), "utf8").split("\n");
  const rest = lines.slice(lines.indexOf("| asked | differs | because |") + 2);
  const stated = rest.slice(0, rest.indexOf("")).map((row) => row.slice(2).split(" | ").slice(0, 2));
  const all: string[] = [];
  afterAll(() => expect([...new Set(stated.map(([request = ""]) => request))]).toEqual([...new Set(all)]));
  return (found) => {
    const differences = found.flatMap(([request, each]) => each.map((difference) => [request, difference]));
    const requests = new Set(found.map(([request]) => request));

    all.push(...differences.map(([request = ""]) => request));
    expect(differences).toEqual(stated.filter(([request = ""]) => requests.has(request)));
  };
}

/** Names that the stand-in lacks, and those that it alone has. */
export const lacking = (theirs: readonly string[], ours: readonly string[]): readonly string[] => {
  const lacks = theirs.filter((name) => !ours.includes(name));
  const more = ours.filter((name) => !theirs.includes(name));
  return [
    ...(lacks.length > 0 ? [`lacks ${lacks.join(", ")}`] : []),
    ...(more.length > 0 ? [`has ${more.join(", ")} besides`] : []),
  ];
};

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
