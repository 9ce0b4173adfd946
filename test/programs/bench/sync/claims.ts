import { Client } from "pg";
import { contactShape } from "../../../support/worlds/shapes.ts";
import { type Figure, median, say } from "../figures.ts";
import { beginCycle, openStore, provision, timedClaim } from "./bench-mapping.ts";
import type { Measure } from "./sizes.ts";

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
export const measureClaims: Measure = async (server, { large }) => {
  const claims = async (backlog: Backlog) => median(await measure(await server.createDatabase(), backlog));
  const name = `claim of ${NEW_CHANGES} changes, median of ${CLAIMS}`;
  const figures: Figure[] = [{ name, value: await claims({ ...BACKLOGS["wait for retry"], rows: 0 }), unit: "ms" }];
  for (const [what, backlog] of Object.entries(BACKLOGS)) {
    const value = await claims({ ...backlog, rows: large });
    say(`beside ${large} that ${what}: ${value} ms`);
    figures.push({ name: `  beside ${large.toLocaleString("en")} that ${what}`, value, unit: "ms", atMost: 50 });
  }
  return figures;
};

interface Backlog {
  readonly rows: number;
  readonly action: string;
  readonly due: string;
  readonly held: boolean;
}

async function measure(url: string, { rows, action, due, held }: Backlog): Promise<number[]> {
  const shape = contactShape({ upsertField: "Key__c" });
  await provision(url, shape);
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
  const store = openStore({ url, schema: "salesforce" });
  const lease = await beginCycle(store, shape);
  const took: number[] = [];
  // A log that was just filled has no statistics; later it has.
  for (let claim = 0; claim < CLAIMS; claim += 1) {
    if (claim === CLAIMS / 2) await client.query("VACUUM ANALYZE salesforce._trigger_log");
    took.push(await timedClaim(store, lease, NEW_CHANGES));
  }
  await store.close();
  await client.end();
  return took;
}
