import { expect } from "vitest";
import { recorded } from "../recorded.ts";
import { DIFFERENCES } from "./differences.ts";

/** A request, and what differs in the stand-in's answer to it. */
export type Found = readonly [request: string, differences: readonly string[]];

/** The recorded answer of this name. */
export function answerOf(kind: string, name: string) {
  const answer = recorded(kind).find((one) => one.name === name);
  if (!answer) throw new Error(`no answer of ${kind} is "${name}"`);
  return answer;
}

/** That what was found of these requests is what is stated of them: a new difference fails, and one that has gone. */
export function expectStated(found: readonly Found[]): void {
  const requests = new Set(found.map(([request]) => request));
  const stated = DIFFERENCES.filter(({ request }) => requests.has(request));

  expect(found.flatMap(([request, differences]) => differences.map((difference) => ({ request, difference })))).toEqual(
    stated.map(({ request, difference }) => ({ request, difference })),
  );
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
