import type { Client } from "pg";
import { contactShape } from "../../../support/worlds/shapes.ts";
import { type Figure, median, say } from "../figures.ts";
import type { Bench } from "./bench.ts";
import { beginCycle, IDLE_END, openStore, provision, timedClaim } from "./bench-mapping.ts";
import type { SyncMeasure } from "./sizes.ts";

/** New changes behind the backlog, which each claim is to find. */
const NEW_CHANGES = 200;
const CLAIMS = 20;
const FILLED_AT_ONCE = 500_000;
/** The oldest changes that are settled are older than a log keeps them. */
const KEPT_DAYS = 30;

const VALUES = `jsonb_build_object('email', 'ada@example.com', 'key__c', 'K' || n, 'lastname', 'Lovelace')`;
const KEY = "'key__c' || chr(1) || 'key k' || n";

/** What the changes of a long log are: columns and their values. */
const LOGS = {
  "wait for retry": { action: "'INSERT'", '"values"': VALUES, due_at: "now() + interval '1 day'", upsert_key: KEY },
  "are held deletes": {
    action: "'DELETE'",
    sfid: "lpad(n::text, 18, '0')",
    old: VALUES,
    held: "true",
    upsert_key: KEY,
  },
  "are due for retry": { action: "'INSERT'", '"values"': VALUES, due_at: "now() - interval '1 hour'", upsert_key: KEY },
  "are settled": {
    action: "'UPDATE'",
    sfid: "lpad(n::text, 18, '0')",
    old: "jsonb_build_object('email', 'ada' || n || '@example.com', 'lastname', 'Lovelace')",
    '"values"': "jsonb_build_object('email', 'ada.lovelace' || n || '@example.com', 'lastname', 'Lovelace')",
    state: "CASE WHEN n % 50 = 0 THEN 'FAILED' ELSE 'SUCCESS' END",
    last_operation: "CASE WHEN n % 50 = 0 THEN 'FAILED' ELSE 'UPDATED' END",
    processed_at: "now() - interval '31 days' + n * interval '0.89 s'",
  },
} as const;

/** How long a claim takes beside a long log of changes that wait for their retry, are held or settled; and their size. */
export const measureClaims: SyncMeasure = async (bench, { large, logged }) => {
  const empty = await measure(bench, LOGS["are settled"], 0);
  const figures: Figure[] = [
    { name: `claim of ${NEW_CHANGES} changes, median of ${CLAIMS}`, value: empty.claim, unit: "ms" },
  ];
  for (const [what, log] of Object.entries(LOGS)) {
    const rows = what === "are settled" ? logged : large;
    const { claim, bytes, url } = await measure(bench, log, rows);
    say(`beside ${rows} that ${what}: ${claim} ms`);
    figures.push({ name: `  beside ${rows.toLocaleString("en")} that ${what}`, value: claim, unit: "ms", atMost: 50 });
    if (what !== "are settled") continue;
    figures.push(
      { name: "    times that beside an empty log", value: claim / empty.claim, unit: "×", atMost: 1.5 },
      { name: "    bytes a change", value: (bytes - empty.bytes) / rows, unit: "" },
      { name: "    end of a cycle that deletes 500 of them", value: await pruning(url), unit: "ms", atMost: 100 },
    );
  }
  return figures;
};

/** The median milliseconds of a claim of new changes beside so many others, and the bytes of the log. */
async function measure(bench: Bench, log: Readonly<Record<string, string>>, rows: number) {
  const shape = contactShape({ upsertField: "Key__c" });
  const { url, client } = await bench.createDatabase();
  await provision(url, shape);
  for (let filled = 0; filled < rows; filled += FILLED_AT_ONCE)
    await client.query(
      `INSERT INTO salesforce._trigger_log (table_name, record_id, attempts, ${Object.keys(log).join(", ")})
       SELECT 'contact', 1000000 + n, 1, ${Object.values(log).join(", ")} FROM generate_series($1::int + 1, $2::int) AS n`,
      [filled, Math.min(rows, filled + FILLED_AT_ONCE)],
    );
  const bytes = await bytesOfLog(client);
  await client.query(
    `INSERT INTO salesforce.contact (lastname, key__c) SELECT 'Byron', 'new' || n FROM generate_series(1, ${NEW_CHANGES}) AS n`,
  );
  const store = openStore({ url, schema: "salesforce" });
  const lease = await beginCycle(store, shape);
  const took: number[] = [];
  // A log that was just filled has no statistics; later it has.
  for (let claim = 0; claim < CLAIMS; claim += 1) {
    if (claim === CLAIMS / 2) await client.query("VACUUM ANALYZE salesforce._trigger_log");
    took.push(await timedClaim(store, lease, NEW_CHANGES));
  }
  await store.finish(lease, IDLE_END);
  await store.close();
  return { claim: median(took), bytes, url };
}

/** The median milliseconds of the end of a cycle that finds changes older than they are kept. */
async function pruning(url: string): Promise<number> {
  const took: number[] = [];
  for (let round = 0; round < CLAIMS; round += 1) {
    const store = openStore({ url, schema: "salesforce", retention: { logDays: KEPT_DAYS } });
    const lease = await beginCycle(store, contactShape());
    const began = performance.now();
    await store.finish(lease, IDLE_END);
    took.push(performance.now() - began);
    await store.close();
  }
  return median(took);
}

async function bytesOfLog(client: Client): Promise<number> {
  const text = "SELECT pg_total_relation_size('salesforce._trigger_log')::float8 AS bytes";
  return (await client.query<{ bytes: number }>(text)).rows[0]?.bytes ?? Number.NaN;
}
