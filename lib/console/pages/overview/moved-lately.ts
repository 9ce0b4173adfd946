import type { ReadThroughputData } from "bridge/api";

/** Rows that moved each way in the last minutes of what was counted. */
export interface MovedLately {
  readonly accepted: number;
  readonly refused: number;
  readonly pulled: number;
}

/** Sums of all mappings over the last so many minutes, the one that has begun among them. */
export function movedLately({ to, mappings }: ReadThroughputData, minutes: number): MovedLately {
  const since = Date.parse(to) - minutes * 60_000;
  const steps = mappings.flatMap((mapping) => mapping.steps).filter(({ at }) => Date.parse(at) > since);
  const sum = (of: keyof MovedLately) => steps.reduce((all, step) => all + step[of], 0);
  return { accepted: sum("accepted"), refused: sum("refused"), pulled: sum("pulled") };
}
