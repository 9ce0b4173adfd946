import type { TestSpecification } from "vitest/node";
import { BaseSequencer } from "vitest/node";

/** The files that take longest, longest first; one that computes and one that waits for real seconds alternate. */
const LONGEST = [
  "sync/push/bulk-push",
  "sync/push/refused-rows",
  "conformance/tokens",
  "adapters/postgres/pull/apply-races",
  "journeys/one-row-each-way",
  "sync/push/org-refusals",
  "sync/trouble",
  "webhooks/journeys",
  "sync/pull/deleted-there",
];

/**
 * Begins with the files that take longest, so that no worker is left alone with one of them at the end: in a fresh clone
 * Vitest knows only how large files are, and some of the longest are among the smallest.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const others = await super.sort(files);
    return others.sort((one, other) => rank(one) - rank(other));
  }
}

function rank({ moduleId }: TestSpecification): number {
  const at = LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  return at === -1 ? LONGEST.length : at;
}
