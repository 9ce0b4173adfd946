import type { ReadHealthData } from "bridge/api";
import { harmless } from "./width.ts";
import { count } from "./words.ts";

export type Incident = NonNullable<ReadHealthData["incidents"]>[number];

/** An incident in lines: what happened; since when, what waits and when it is tried again; what helps, and how. */
export function linesOf({ message, said, since, waiting, next_try_at, remedy, commands }: Incident): readonly string[] {
  const facts = [
    ...(since === null ? [] : [`since ${since}`]),
    ...(waiting ? [`${count(waiting, "row waits", "rows wait")}`] : []),
    ...(next_try_at === null ? [] : [`next try ${next_try_at}`]),
  ];
  const below = [...(facts.length > 0 ? [facts.join(", ")] : []), said ?? [], remedy].flat();
  return [
    harmless(message),
    ...below.map((text) => `    ${harmless(text)}`),
    ...commands.map((command) => `      ${harmless(command)}`),
  ];
}
