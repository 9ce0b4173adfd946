import { Client } from "pg";
import { createCycleStores } from "../../../../lib/adapters/postgres/cycle-store.ts";
import { createProvisioner } from "../../../../lib/adapters/postgres/schema/provision.ts";
import { contactShape, mappingOf } from "../../../support/worlds/shapes.ts";
import type { BenchServer } from "./bench-database.ts";
import { type Figure, median, type Sizes } from "./figure.ts";

/** New changes behind the backlog, which each claim is to find. */
const NEW_CHANGES = 200;
const CLAIMS = 20;

/** What the changes of a long backlog are. */
const BACKLOGS = {
  "wait for retry": { action: "INSERT", due: "now() + interval '1 day'", held: false },
  "are held deletes": { action: "DELETE", due: "NULL", held: true },
  "are due for retry": { action: "INSERT", due: "now() - interval '1 hour'", held: false },
} as const;

/** How long a claim takes beside a long backlog of changes that wait for their retry or are held. */
export async function measureClaims(
  server: BenchServer,
  { large }: Sizes,
  say: (text: string) => void,
): Promise<Figure[]> {
  const claims = async (backlog: Backlog) => {
    const took = await measure(await server.createDatabase(), backlog);
    say(`beside ${backlog.rows} changes: ${JSON.stringify(took)}`);
    return median(took);
  };
  const name = `claim of ${NEW_CHANGES} changes, median of ${CLAIMS}`;
  const figures: Figure[] = [{ name, value: await claims({ ...BACKLOGS["wait for retry"], rows: 0 }), unit: "ms" }];
  for (const [what, backlog] of Object.entries(BACKLOGS)) {
    const value = await claims({ ...backlog, rows: large });
    figures.push({ name: `  beside ${large.toLocaleString("en")} that ${what}`, value, unit: "ms", atMost: 50 });
  }
  return figures;
}

interface Backlog {
  readonly rows: number;
  readonly action: string;
  readonly due: string;
  readonly held: boolean;
}

async function measure(url: string, { rows, action, due, held }: Backlog): Promise<number[]> {
  const shape = contactShape({ upsertField: "Key__c" });
  const connection = { url, schema: "salesforce" };
  await createProvisioner(connection, () => new Date()).provision(mappingOf(shape), shape);
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined); // the server may end first
  await client.connect();
  const values = `jsonb_build_object('email', 'ada@example.com', 'key__c', 'K' || n, 'lastname', 'Lovelace')`;
  await client.query(
    `INSERT INTO salesforce._trigger_log (action, table_name, record_id, sfid, old, "values", due_at, held, attempts, upsert_key)
     SELECT $1::varchar, 'contact', 1000000 + n, CASE WHEN $1 = 'DELETE' THEN lpad(n::text, 18, '0') END,
       CASE WHEN $1 = 'DELETE' THEN ${values} END, CASE WHEN $1 = 'INSERT' THEN ${values} END, ${due}, ${held}, 1,
       'key__c' || chr(1) || 'key k' || n
     FROM generate_series(1, ${rows}) AS n`,
    [action],
  );
  await client.query(
    `INSERT INTO salesforce.contact (lastname, key__c) SELECT 'Byron', 'new' || n FROM generate_series(1, ${NEW_CHANGES}) AS n`,
  );
  const store = await createCycleStores(() => new Date())(connection);
  const begun = await store.begin({ ...WHO, mappingId: shape.mappingId, configVersion: shape.configVersion });
  if (!begun.held) throw new Error(`the lease is not free: ${begun.why}`);
  const took: number[] = [];
  const claimSome = async () => {
    const began = performance.now();
    const claimed = await store.claim(begun.lease, NEW_CHANGES);
    took.push(Math.round((performance.now() - began) * 10) / 10);
    if (claimed.length !== NEW_CHANGES) throw new Error(`${claimed.length} of ${NEW_CHANGES} changes were claimed`);
    await store.release(
      begun.lease,
      claimed.map(({ id }) => id),
    );
  };
  // A log that was just filled has no statistics; later it has.
  for (let claim = 0; claim < CLAIMS / 2; claim += 1) await claimSome();
  await client.query("VACUUM ANALYZE salesforce._trigger_log");
  for (let claim = 0; claim < CLAIMS / 2; claim += 1) await claimSome();
  await store.close();
  await client.end();
  return took;
}

const WHO = { work: "cycle", owner: "bench", slot: null, leaseSeconds: 600 } as const;
