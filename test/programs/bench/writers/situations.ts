import { setTimeout as pause } from "node:timers/promises";
import { createProvisioner } from "../../../../lib/adapters/postgres/schema/provision.ts";
import type { TableShape } from "../../../../lib/model/mapping/shape.ts";
import { becomeReleased } from "../../../support/worlds/released-schema.ts";
import type { BenchOrg, Database } from "../sync/bench.ts";
import { benchMapping, cycleOf, openStore } from "../sync/bench-mapping.ts";
import { loadByEngine } from "../sync/load.ts";
import { updateByBulk } from "../sync/plain-client.ts";

export const PLAIN = "Plain__c";
export const MAPPED = "Mapped__c";

/** A database of an application with one table that Bridge does not know, and one that it maps. */
export interface Sides extends Database {
  readonly org: BenchOrg;
  readonly shape: TableShape;
  /** Rows of each table, and changes of a backlog each way. */
  readonly rows: number;
  /** How long writers write where Bridge has nothing to end with. */
  readonly seconds: number;
}

/** What Bridge does while the writers write. `prepare` comes before they begin. */
export interface Situation {
  readonly name: string;
  prepare?(sides: Sides): Promise<void>;
  run(sides: Sides): Promise<void>;
}

/** In the order in which a mapping lives through them. */
export const SITUATIONS: readonly Situation[] = [
  { name: "provisioning", prepare: leave, run: provisionOften },
  { name: "first load", run: loadAs("engine") },
  { name: "idle", run: beat },
  { name: "backlog both ways", prepare: changeAll, run: workOff },
  { name: "comparison", run: loadAs("sweep") },
  { name: "upgrade", prepare: becomeOld, run: upgrade },
];

const provisionerOf = ({ url }: Sides) => createProvisioner({ url, schema: "salesforce" }, () => new Date());

/** The mapping's table as an application's own, without indexes and triggers of Bridge. */
async function leave(sides: Sides): Promise<void> {
  await provisionerOf(sides).retire(benchMapping(MAPPED));
  const { rows } = await sides.client.query<{ name: string }>(
    `SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indrelid = 'salesforce.mapped__c'::regclass AND NOT indisprimary
       AND pg_get_indexdef(indexrelid) ~ 'sfid'`,
  );
  for (const { name } of rows) await sides.client.query(`DROP INDEX ${name}`);
}

async function provisionOften(sides: Sides): Promise<void> {
  const end = Date.now() + sides.seconds * 1000;
  for (;;) {
    await provisionerOf(sides).provision(benchMapping(MAPPED), sides.shape);
    await pause(500);
    if (Date.now() > end) return;
    await leave(sides);
  }
}

function loadAs(way: "engine" | "sweep") {
  return async ({ url, org, shape }: Sides): Promise<void> => {
    await loadByEngine({ way, url, org: org.connection, object: MAPPED, shape });
  };
}

async function beat(sides: Sides): Promise<void> {
  const end = Date.now() + sides.seconds * 1000;
  while (Date.now() < end) {
    await cycle(sides);
    await pause(2_000);
  }
}

/** As long as a function lives: writers that continue give it work without an end. */
const cycle = ({ url, org }: Sides) =>
  cycleOf(MAPPED, openStore({ url, schema: "salesforce" }), org.connection, { mostSeconds: 140 });

/** Every record, and every row in another field. */
async function changeAll({ client, org, rows }: Sides): Promise<void> {
  const changed = await client.query<{ sfid: string | null }>(
    `UPDATE salesforce.mapped__c SET first__c = 'by the application' WHERE id <= ${rows} RETURNING sfid`,
  );
  const updates = changed.rows.flatMap(({ sfid }) => (sfid === null ? [] : [{ id: sfid, value: "by a colleague" }]));
  await updateByBulk(org, MAPPED, updates);
}

/** Until everything that waited at the beginning has been sent, and pulled with it. */
async function workOff(sides: Sides): Promise<void> {
  const sql = async (text: string) => (await sides.client.query<{ id: number }>(text)).rows;
  const [last] = await sql("SELECT max(id)::int AS id FROM salesforce._trigger_log");
  const left = `SELECT id FROM salesforce._trigger_log WHERE processed_at IS NULL AND NOT held AND id <= ${last?.id} LIMIT 1`;
  do await cycle(sides);
  while ((await sql(left)).length > 0);
}

/** Bridge's own tables and triggers as a version before made them. */
async function becomeOld({ client }: Sides): Promise<void> {
  const sql = async (text: string, values: readonly unknown[] = []) => (await client.query(text, [...values])).rows;
  await becomeReleased({ sql, workspaceId: benchMapping(MAPPED).workspaceId });
  await sql(`UPDATE salesforce._bridge_state SET layout = layout || '{"captureVersion": 1}'`);
  await sql("CREATE INDEX mapped__c_systemmodstamp_idx ON salesforce.mapped__c (systemmodstamp)");
}

async function upgrade(sides: Sides): Promise<void> {
  await provisionerOf(sides).migrate(benchMapping(MAPPED));
}
