import { randomUUID } from "node:crypto";
import { BatchWriteItemCommand, paginateScan } from "@aws-sdk/client-dynamodb";
import { TABLES } from "../../../lib/model/resources.ts";
import type { SyncWorld } from "./sync-world.ts";

export type Backup = Awaited<ReturnType<typeof takeBackup>>;

/**
 * Copies both stores of a world in some milliseconds; each can be put back without the other. Columns and tables that
 * come later stay as they are.
 */
export async function takeBackup(world: SyncWorld) {
  const name = `backup_${randomUUID().slice(0, 8)}`;
  await world.asSuperuser(copyOf(name));
  const items = await readItems(world);
  return {
    /** The rows and sequences of the customer's schema, as a restore to a point in time has them. */
    restorePostgres: () => world.asSuperuser(restoreOf(name)),
    /** Every item of every table of the service, those since then gone. */
    restoreDynamoDb: () => writeItems(world, items),
  };
}

const each = (schema: string, kind: "r" | "S") =>
  `SELECT relname AS t FROM pg_class WHERE relnamespace = '${schema}'::regnamespace AND relkind = '${kind}'`;

/** Copies tables and sequences of a schema into a new one. */
export const copyOf = (name: string, schema = "salesforce") => `
  CREATE SCHEMA ${name};
  DO $$ DECLARE t text; BEGIN
    FOR t IN ${each(schema, "r")} LOOP EXECUTE format('CREATE TABLE ${name}.%I AS TABLE ${schema}.%I', t, t); END LOOP;
    FOR t IN ${each(schema, "S")} LOOP EXECUTE format('CREATE TABLE ${name}.%I AS SELECT last_value, is_called FROM ${schema}.%I', t, t); END LOOP;
  END $$`;

/** Puts rows and sequences back, with no trigger. */
export const restoreOf = (name: string, schema = "salesforce") => `
  SET session_replication_role = replica;
  DO $$ DECLARE t text; columns text; BEGIN
    FOR t IN ${each(schema, "r")} LOOP
      EXECUTE format('DELETE FROM ${schema}.%I', t);
      CONTINUE WHEN to_regclass(format('${name}.%I', t)) IS NULL;
      SELECT string_agg(quote_ident(attname), ', ') INTO columns FROM pg_attribute
        WHERE attrelid = format('${name}.%I', t)::regclass AND attnum > 0;
      EXECUTE format('INSERT INTO ${schema}.%I (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM ${name}.%I', t, columns, columns, t);
    END LOOP;
    FOR t IN ${each(schema, "S")} LOOP
      CONTINUE WHEN to_regclass(format('${name}.%I', t)) IS NULL;
      EXECUTE format('SELECT setval(%L, last_value, is_called) FROM ${name}.%I', '${schema}.' || quote_ident(t), t);
    END LOOP;
  END $$`;

type Item = Readonly<Record<string, { readonly S?: string }>>;
type Items = ReadonlyMap<string, readonly Item[]>;

const tableNames = Object.keys(TABLES) as (keyof typeof TABLES)[];

async function readItems({ cloud: { clients } }: SyncWorld): Promise<Items> {
  const found = new Map<string, readonly Item[]>();
  for (const table of tableNames) {
    const items: Item[] = [];
    const pages = paginateScan({ client: clients.dynamodb }, { TableName: `bridge-test-${table}` });
    for await (const page of pages) items.push(...((page.Items ?? []) as Item[]));
    found.set(table, items);
  }
  return found;
}

async function writeItems(world: SyncWorld, before: Items): Promise<void> {
  const now = await readItems(world);
  for (const table of tableNames) {
    const keyOf = ({ pk, sk }: Item) => ({ pk, ...(sk && { sk }) });
    const kept = new Set(before.get(table)?.map((item) => JSON.stringify(keyOf(item))));
    const gone = (now.get(table) ?? []).map(keyOf).filter((key) => !kept.has(JSON.stringify(key)));
    const requests = [
      ...gone.map((Key) => ({ DeleteRequest: { Key } })),
      ...(before.get(table) ?? []).map((Item) => ({ PutRequest: { Item } })),
    ];
    for (let from = 0; from < requests.length; from += 25) {
      const RequestItems = { [`bridge-test-${table}`]: requests.slice(from, from + 25) } as never;
      await world.cloud.clients.dynamodb.send(new BatchWriteItemCommand({ RequestItems }));
    }
  }
}
