import { Client } from "pg";
import { createCycleStores } from "../../../../lib/adapters/postgres/cycle-store.ts";
import { createProvisioner } from "../../../../lib/adapters/postgres/schema/provision.ts";
import { contactShape, mappingOf } from "../../../support/worlds/shapes.ts";
import type { BenchServer } from "./bench-database.ts";
import { type Figure, median, type Sizes } from "./figure.ts";

const DAYS = 31;
const KEEP_ALL = 2 * DAYS;
const CLAIMED = 200;
const ROUNDS = 20;
const FILLED_AT_ONCE = 100_000;
/** Extrapolated to. */
const MANY_A_DAY = 1_000_000;

const CONNECTION = { schema: "salesforce" } as const;
const WHO = { work: "cycle", owner: "bench", slot: null, leaseSeconds: 600 } as const;

const openStore = createCycleStores(() => new Date());

/** What a month of settled changes takes of the database, and what it costs claims; and how long its oldest ones take to go. */
export async function measureRetention(
  server: BenchServer,
  { logged }: Sizes,
  say: (text: string) => void,
): Promise<Figure[]> {
  const url = await server.createDatabase();
  const shape = contactShape();
  await createProvisioner({ ...CONNECTION, url }, () => new Date()).provision(mappingOf(shape), shape);
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined); // the server may end first
  await client.connect();
  const empty = await claims(url, client);
  say(`claims beside nothing: ${JSON.stringify(empty)}`);
  for (let filled = 0; filled < logged; filled += FILLED_AT_ONCE) await fill(client, filled, logged);
  say(`${logged} settled changes`);
  await client.query("VACUUM ANALYZE salesforce._trigger_log");
  await client.query("CHECKPOINT");
  const sizes = await sizesOf(client);
  const beside = await claims(url, client);
  say(`claims beside ${logged}: ${JSON.stringify(beside)}`);
  const [idle, pruning] = [await ends(url, KEEP_ALL), await ends(url, DAYS)];
  say(`ends of cycles: ${JSON.stringify({ idle, pruning })}`);
  await client.end();

  const name = `${logged.toLocaleString("en")} settled changes (${Math.round(logged / DAYS).toLocaleString("en")} a day)`;
  const factor = (MANY_A_DAY * DAYS) / logged;
  const prunedAt = median(pruning);
  return [
    { name: `${name}: size`, value: (sizes.table + sizes.indexes) / 1e6, unit: "MB" },
    { name: "  of it indexes", value: sizes.indexes / 1e6, unit: "MB" },
    { name: "  bytes a change", value: (sizes.table + sizes.indexes) / logged, unit: "" },
    { name: "  at 1,000,000 a day, extrapolated", value: ((sizes.table + sizes.indexes) * factor) / 1e9, unit: "GB" },
    { name: `  claim of ${CLAIMED} beside an empty log, median`, value: median(empty), unit: "ms" },
    { name: "  the same beside them", value: median(beside), unit: "ms" },
    { name: "  of it, in times", value: median(beside) / median(empty), unit: "x", atMost: 1.5 },
    { name: "  end of a cycle that takes nothing away, median", value: median(idle), unit: "ms" },
    { name: "  end of a cycle that takes 500 away, median", value: prunedAt, unit: "ms", atMost: 100 },
    {
      name: "  a day's worth at 1,000,000 a day, extrapolated",
      value: ((MANY_A_DAY / 500) * prunedAt) / 1000,
      unit: "s",
    },
  ];
}

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

async function sizesOf(client: Client): Promise<{ readonly table: number; readonly indexes: number }> {
  const { rows } = await client.query<{ table: number; indexes: number }>(
    `SELECT pg_table_size(log)::float8 AS "table", pg_indexes_size(log)::float8 AS indexes
     FROM (SELECT 'salesforce._trigger_log'::regclass AS log) AS named`,
  );
  return rows[0] ?? { table: Number.NaN, indexes: Number.NaN };
}

/** Milliseconds of claims of new changes, each of which is given back. */
async function claims(url: string, client: Client): Promise<number[]> {
  const insert = "INSERT INTO salesforce.contact (lastname) SELECT 'Byron' FROM generate_series(1, $1::int)";
  if ((await waiting(client)) === 0) await client.query(insert, [CLAIMED]);
  const took: number[] = [];
  await cycle(url, KEEP_ALL, async (store, lease) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const began = performance.now();
      const claimed = await store.claim(lease, CLAIMED);
      took.push(since(began));
      if (claimed.length !== CLAIMED) throw new Error(`${claimed.length} of ${CLAIMED} changes were claimed`);
      await store.release(
        lease,
        claimed.map(({ id }) => id),
      );
    }
  });
  return took;
}

async function waiting(client: Client): Promise<number> {
  const { rows } = await client.query("SELECT FROM salesforce._trigger_log WHERE processed_at IS NULL");
  return rows.length;
}

/** Milliseconds that cycles take to end where changes are kept so long. */
async function ends(url: string, logDays: number): Promise<number[]> {
  const took: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) took.push(await cycle(url, logDays, async () => undefined));
  return took;
}

type Store = ReturnType<typeof openStore>;
type Held = Extract<Awaited<ReturnType<Store["begin"]>>, { held: true }>;

/** Milliseconds that its end takes. */
async function cycle(
  url: string,
  logDays: number,
  work: (store: Store, lease: Held["lease"]) => Promise<void>,
): Promise<number> {
  const store = openStore({ ...CONNECTION, url, retention: { logDays } });
  const { mappingId, configVersion } = contactShape();
  const begun = await store.begin({ ...WHO, mappingId, configVersion });
  if (!begun.held) throw new Error(`the lease is not free: ${begun.why}`);
  await work(store, begun.lease);
  const began = performance.now();
  await store.finish(begun.lease, { marks: {}, pulledAt: null, apiCalls: {}, error: null });
  const took = since(began);
  await store.close();
  return took;
}

const since = (began: number) => Math.round((performance.now() - began) * 10) / 10;
