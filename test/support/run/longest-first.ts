import type { TestSpecification } from "vitest/node";
import { BaseSequencer } from "vitest/node";

/** What takes half a minute and more, longest first, alternately at work and waiting for real seconds. */
const LONGEST = [
  "sync/bulk-push",
  "journeys/heroku-connect",
  "journeys/one-row-each-way",
  "webhooks/hosted-real-time",
  "conformance/identifiers",
  "conformance/contract",
  "sync/killed",
  "webhooks/slow-receivers",
  "journeys/settings",
  "conformance/abort",
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
