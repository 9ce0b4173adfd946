import { setTimeout as pause } from "node:timers/promises";
import type { BenchServer } from "./bench-database.ts";
import { control } from "./bench-org.ts";
import type { Figure, Sizes } from "./figure.ts";
import { onHostedMapping } from "./hosted-mapping.ts";
import { between, usedSoFar } from "./process-time.ts";

const MAPPINGS = 10;
const BEATS_PER_MINUTE = 6;
const MINUTES_PER_DAY = 1_440;

/** What ten idle mappings cost the database and the org on the running host, whose ticks come as they come. */
export async function measureIdle(
  server: BenchServer,
  { settleSeconds }: Sizes,
  say: (text: string) => void,
): Promise<Figure[]> {
  const more = Array.from({ length: MAPPINGS - 1 }, (_, at) => `Idle${at + 2}__c`);
  return onHostedMapping(server, { object: "Idle1__c", more }, async ({ client, org }) => {
    const calls = async () => ((await (await control(org, "GET", "calls")).json()) as { used: number }).used;
    say(`${MAPPINGS} mappings are loaded; their first beats come alone`);
    await pause(settleSeconds * 1000);
    const [before, callsBefore] = [await usedSoFar(client), await calls()];
    await pause(60_000);
    const used = between(before, await usedSoFar(client));
    const beats = MAPPINGS * BEATS_PER_MINUTE;
    return [
      {
        name: `${MAPPINGS} idle mappings: statements a mapping and beat`,
        value: used.statements / beats,
        unit: "",
        atMost: 0.6,
      },
      { name: "  processor time of PostgreSQL", value: used.postgres / beats, unit: "ms" },
      {
        name: "  WAL a mapping and day",
        value: ((used.wal / MAPPINGS) * MINUTES_PER_DAY) / 1e6,
        unit: "MB",
        atMost: 1,
      },
      { name: "  calls a minute", value: (await calls()) - callsBefore, unit: "" },
    ];
  });
}
