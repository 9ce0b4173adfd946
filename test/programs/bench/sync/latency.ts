import { type Figure, percentile, say } from "../figures.ts";
import { followChanges, recordsToRows, rowsToRecords, secondsOf } from "./follow-changes.ts";
import { onHostedMapping } from "./hosted-mapping.ts";
import type { Measure } from "./sizes.ts";

const OBJECT = "Late__c";
const WAYS = { "commit to Salesforce": rowsToRecords, "save to PostgreSQL": recordsToRows };

/** From the commit on one side until it is seen on the other, on the real beat of the deployed bundles, at random phases. */
export const measureLatency: Measure = (server, { latencySamples, latencySeconds }) =>
  onHostedMapping(server, { object: OBJECT }, async ({ client, org }) => {
    say(`${latencySamples} changes each way within ${latencySeconds} s`);
    const times = () =>
      Array.from({ length: latencySamples }, () => Math.random() * latencySeconds * 1000).toSorted((a, b) => a - b);
    const measured = Object.entries(WAYS).map(async ([name, way]): Promise<Figure[]> => {
      const changes = await followChanges(way(client, org, OBJECT), times(), { lookMilliseconds: 100 });
      const seconds = secondsOf(changes);
      return [
        { name: `${name}, p50 of ${seconds.length}`, value: percentile(seconds, 50), unit: "s" },
        { name: "  p95", value: percentile(seconds, 95), unit: "s", atMost: 11 },
      ];
    });
    return (await Promise.all(measured)).flat();
  });
