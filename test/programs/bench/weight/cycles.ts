import { createCycleStores } from "../../../../lib/adapters/postgres/cycle-store.ts";
import { createProvisioner } from "../../../../lib/adapters/postgres/schema/provision.ts";
import type { Image } from "../../../../lib/model/record/record.ts";
import { contactShape, mappingOf } from "../../../support/worlds/shapes.ts";
import type { Figure } from "../sync/figure.ts";
import { type Taken, type TakenBy, total, watchDatabase } from "./statements.ts";

const ROWS = 200;
const CYCLES = 60;

/** The steps of a cycle, by words of their statements. */
const STEPS = {
  capture: /^UPDATE salesforce\.contact SET lastname/,
  begin: /AS same_version/,
  claim: /json_build_object\([^)]*found|whole AS MATERIALIZED|WITH pending AS|enable_bitmapscan/,
  sent: /marked AS \(/,
  settle: /settled AS \(|SET CONSTRAINTS/,
  echo: /judged|UNLOGGED|_bridge_echo/,
  finish: /AS still_ours/,
  count: /AS new_ones/,
  lock: /row_security_active/,
  settings: /^(SET|SELECT pg_catalog.set_config)/,
} as const;

/** Cycles that push so many changed rows each and get their own echo: planning, executing and WAL by their steps. */
export async function measureCycles(server: string, backlog: number, say: (text: string) => void): Promise<Figure[]> {
  const database = await watchDatabase(server);
  const shape = contactShape({ upsertField: "Key__c" });
  const connection = { url: database.url, schema: "salesforce" };
  try {
    await createProvisioner(connection, () => new Date()).provision(mappingOf(shape), shape);
    await fill(database.client, backlog);
    const store = createCycleStores(() => new Date())(connection);
    let at = Date.now();
    const cycle = async (round: number) => {
      await database.client.query(`UPDATE salesforce.contact SET lastname = 'Round ${round}' WHERE id <= ${ROWS}`);
      const who = { mappingId: shape.mappingId, configVersion: shape.configVersion, owner: "bench" };
      const begun = await store.begin({ ...who, work: "cycle", slot: null, leaseSeconds: 60 });
      if (!begun.held) throw new Error(`the lease is not free: ${begun.why}`);
      const { lease } = begun;
      const claimed = await store.claim(lease, ROWS);
      await store.markSent(
        lease,
        `batch ${round}`,
        claimed.map(({ id }) => id),
        60,
      );
      at += 1000;
      const answeredAt = new Date(at);
      await store.settle(
        lease,
        claimed.map(({ id, recordId, sfid }) => ({
          kind: "accepted",
          action: "UPDATE",
          changeIds: [id],
          recordId,
          sfid,
          answeredAt,
        })),
      );
      const images = claimed.map(
        ({ recordId, sfid }): Image =>
          ({
            sfid: sfid ?? "",
            isDeleted: false,
            systemModstamp: new Date(at - 500),
            createdAt: null,
            values: { email: null, key__c: `K${recordId}`, lastname: `Round ${round}`, name: null },
          }) as unknown as Image,
      );
      await store.apply(lease, {
        images,
        readAt: new Date(at + 10),
        lane: "fast",
        marks: { position: new Date(at - 500) },
      });
      await store.finish(lease, {
        marks: {},
        pulledAt: new Date(at),
        apiCalls: { SOAP: 1 },
        error: null,
        count: { ended: "well", pulled: 0, accepted: ROWS, refused: 0 },
      });
      return claimed.length;
    };
    for (let round = 0; round < 6; round++) await cycle(round);
    await database.client.query("VACUUM ANALYZE");
    await database.reset();
    let changes = 0;
    for (let round = 6; round < 6 + CYCLES; round++) changes += await cycle(round);
    const taken = await database.taken();
    for (const one of taken.slice(0, 20))
      say(
        `${one.statements} × plan ${one.planned.toFixed(1)} exec ${one.executed.toFixed(1)} ms, ${Math.round(one.walBytes / changes)} B: ${one.text.replaceAll(/\s+/g, " ").slice(0, 120)}`,
      );
    await store.close();
    return figuresOf(taken, changes);
  } finally {
    await database.close();
  }
}

function figuresOf(taken: readonly TakenBy[], changes: number): Figure[] {
  const left = new Set(taken);
  const steps = Object.entries(STEPS).map(([step, words]) => {
    const own = [...left].filter(({ text }) => words.test(text.trim()));
    for (const one of own) left.delete(one);
    return [step, own] as const;
  });
  const each = (of: readonly Taken[], what: keyof Taken, by: number) => total(of, what) / by;
  const lines = [...steps, ["all other", [...left]] as const, ["all", taken] as const].flatMap(
    ([step, own]): Figure[] => [
      { name: `${step}: statements a cycle`, value: each(own, "statements", CYCLES), unit: "" },
      { name: "  planning", value: each(own, "planned", CYCLES), unit: "ms" },
      { name: "  executing", value: each(own, "executed", CYCLES), unit: "ms" },
      { name: "  WAL a pushed change", value: each(own, "walBytes", changes), unit: "B" },
    ],
  );
  return lines;
}

async function fill(client: import("pg").Client, backlog: number): Promise<void> {
  await client.query("SET session_replication_role = replica");
  await client.query(
    `INSERT INTO salesforce.contact (id, sfid, key__c, lastname, systemmodstamp)
     SELECT i, '003' || lpad(i::text, 12, '0') || 'AAA', 'K' || i, 'Lovelace', now() - interval '1 day' FROM generate_series(1, 10000) i`,
  );
  await client.query("SET session_replication_role = origin");
  await client.query(
    `INSERT INTO salesforce._trigger_log (action, table_name, record_id, sfid, old, "values")
     SELECT 'UPDATE', 'other', i, '003' || lpad(i::text, 12, '0') || 'AAA', '{"lastname": "a"}', '{"lastname": "b"}' FROM generate_series(1, $1::int) i`,
    [backlog],
  );
  await client.query(
    "UPDATE salesforce._bridge_state SET position = now() - interval '1 day', slow = now(), deleted = now()",
  );
}
