import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { afterAll, expect } from "vitest";
import { recorded } from "../recorded.ts";

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
