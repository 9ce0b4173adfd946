import { Client } from "pg";
import { contactShape } from "../../../support/worlds/shapes.ts";
import { median, say } from "../figures.ts";
import { beginCycle, IDLE_END, openStore, provision, timedClaim } from "./bench-mapping.ts";
import type { Measure } from "./sizes.ts";

const DAYS = 31;
const KEEP_ALL = 2 * DAYS;
const CLAIMED = 200;
const ROUNDS = 20;
const FILLED_AT_ONCE = 100_000;

/** What a month of settled changes takes of the database, and what it costs claims; and how long its oldest ones take to go. */
export const measureRetention: Measure = async (server, { logged }) => {
  const url = await server.createDatabase();
  await provision(url, contactShape());
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined); // the server may end first
  await client.connect();
  await client.query("INSERT INTO salesforce.contact (lastname) SELECT 'Byron' FROM generate_series(1, $1::int)", [
    CLAIMED,
  ]);
  const empty = await claims(url);
  for (let filled = 0; filled < logged; filled += FILLED_AT_ONCE) await fill(client, filled, logged);
  say(`${logged} settled changes`);
  await client.query("VACUUM ANALYZE salesforce._trigger_log");
  await client.query("CHECKPOINT");
  const { rows } = await client.query<{ bytes: number }>(
    "SELECT pg_total_relation_size('salesforce._trigger_log')::float8 AS bytes",
  );
  const size = rows[0]?.bytes ?? Number.NaN;
  const beside = await claims(url);
  const [idle, pruning] = [await ends(url, KEEP_ALL), await ends(url, DAYS)];
  await client.end();

  return [
    { name: `${logged.toLocaleString("en")} settled changes: size`, value: size / 1e6, unit: "MB" },
    { name: "  bytes a change", value: size / logged, unit: "" },
    { name: `  claim of ${CLAIMED} beside an empty log, median`, value: empty, unit: "ms" },
    { name: "  beside them, times that", value: beside / empty, unit: "×", atMost: 1.5 },
    { name: "  end of a cycle that takes nothing away, median", value: idle, unit: "ms" },
    { name: "  end of a cycle that takes 500 away, median", value: pruning, unit: "ms", atMost: 100 },
  ];
};

/** The oldest ones were settled two days longer ago than they are kept. */
async function fill(client: Client, filled: number, logged: number): Promise<void> {
  await client.query(
    `INSERT INTO salesforce._trigger_log (action, table_name, record_id, sfid, old, "values", state, last_operation, created_at, processed_at)
     SELECT 'UPDATE', 'contact', 1000000 + n, lpad(n::text, 18, '0'),
       jsonb_build_object('email', 'ada' || n || '@example.com', 'lastname', 'Lovelace'),
       jsonb_build_object('email', 'ada.lovelace' || n || '@example.com', 'lastname', 'Lovelace'),
       CASE WHEN n % 50 = 0 THEN 'FAILED' ELSE 'SUCCESS' END, CASE WHEN n % 50 = 0 THEN 'FAILED' ELSE 'UPDATED' END, at, at + interval '5 s'
     FROM generate_series($1::int + 1, $2::int) n,
       LATERAL (SELECT now() - interval '${DAYS} days' + (n - 0.05 * $3::int) / $3::int * interval '${DAYS} days' AS at) settled`,
    [filled, Math.min(logged, filled + FILLED_AT_ONCE), logged],
  );
  await client.query(`
    INSERT INTO salesforce._bridge_totals AS t VALUES ('contact', ${FILLED_AT_ONCE}, 0)
    ON CONFLICT (table_name) DO UPDATE SET success = t.success + excluded.success`);
}

/** The median milliseconds of claims of new changes. */
async function claims(url: string): Promise<number> {
  const store = openStore({ url, schema: "salesforce", retention: { logDays: KEEP_ALL } });
  const lease = await beginCycle(store, contactShape());
  const took: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) took.push(await timedClaim(store, lease, CLAIMED));
  await store.finish(lease, IDLE_END);
  await store.close();
  return median(took);
}

/** The median milliseconds that cycles take to end where changes are kept so long. */
async function ends(url: string, logDays: number): Promise<number> {
  const took: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const store = openStore({ url, schema: "salesforce", retention: { logDays } });
    const lease = await beginCycle(store, contactShape());
    const began = performance.now();
    await store.finish(lease, IDLE_END);
    took.push(performance.now() - began);
    await store.close();
  }
  return median(took);
}
