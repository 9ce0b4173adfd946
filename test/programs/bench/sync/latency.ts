import type { BenchServer } from "./bench-database.ts";
import { type Figure, percentile, type Sizes } from "./figure.ts";
import { followChanges, recordsToRows, rowsToRecords, secondsOf } from "./follow-changes.ts";
import { onHostedMapping } from "./hosted-mapping.ts";

const OBJECT = "Late__c";

/** From the commit on one side until it is seen on the other, on the real beat of the deployed bundles, at random phases. */
export async function measureLatency(
  server: BenchServer,
  { latencySamples, latencySeconds }: Sizes,
  say: (text: string) => void,
): Promise<Figure[]> {
  return onHostedMapping(server, { object: OBJECT }, async ({ client, org }) => {
    say(`${latencySamples} changes each way within ${latencySeconds} s`);
    const times = () =>
      Array.from({ length: latencySamples }, () => Math.random() * latencySeconds * 1000).toSorted((a, b) => a - b);
    const [toSalesforce, toPostgres] = await Promise.all(
      [rowsToRecords, recordsToRows].map((way) =>
        followChanges(way(client, org, OBJECT), times(), { lookMilliseconds: 100 }),
      ),
    );
    return [
      ...figuresOf("commit in PostgreSQL to Salesforce", secondsOf(toSalesforce ?? [])),
      ...figuresOf("save in Salesforce to PostgreSQL", secondsOf(toPostgres ?? [])),
    ];
  });
}

function figuresOf(name: string, seconds: readonly number[]): Figure[] {
  return [
    { name: `${name}, p50 of ${seconds.length}`, value: percentile(seconds, 50), unit: "s" },
    { name: `${name}, p95`, value: percentile(seconds, 95), unit: "s", atMost: 11 },
  ];
}
