import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import type { Dice } from "../../../support/doubles/dice.ts";
import type { Proved } from "./mapped-objects.ts";

/** The customer's application: writes rows in transactions of its own, and keeps a ledger of them in the same ones. */
export type Application = ReturnType<typeof openApplication>;

/** The proof's own tables: the ledger, and what triggers see of rows and outbox. */
export const PROOF_SCHEMA = `
  CREATE SCHEMA proof;
  CREATE TABLE proof.deeds (seq bigserial PRIMARY KEY, table_name text NOT NULL, tag text NOT NULL, action text NOT NULL,
    record_id bigint NOT NULL, vals jsonb NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp());
  CREATE TABLE proof.seen (seq bigserial PRIMARY KEY, table_name text NOT NULL, by text NOT NULL, action text NOT NULL,
    record_id bigint NOT NULL, old jsonb, new jsonb, at timestamptz NOT NULL DEFAULT clock_timestamp());
  CREATE TABLE proof.announced (seq bigserial PRIMARY KEY, event_id text NOT NULL, event text NOT NULL, log_id bigint,
    at timestamptz NOT NULL DEFAULT clock_timestamp());
  CREATE FUNCTION proof.see() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN
      INSERT INTO proof.seen (table_name, by, action, record_id, old, new) VALUES (TG_TABLE_NAME,
        current_setting('application_name'), TG_OP, CASE WHEN TG_OP = 'DELETE' THEN OLD.id ELSE NEW.id END,
        CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END, CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END);
      RETURN NULL;
    END $$;
  CREATE FUNCTION proof.nest() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    DECLARE value text := 'n ' || (to_jsonb(NEW) ->> 'here__c'); written bigint;
    BEGIN
      EXECUTE format('UPDATE salesforce.%I SET nested__c = $1 WHERE id = $2 AND nested__c IS DISTINCT FROM $1', TG_TABLE_NAME)
        USING value, NEW.id;
      GET DIAGNOSTICS written = ROW_COUNT;
      INSERT INTO proof.deeds (table_name, tag, action, record_id, vals)
        SELECT TG_TABLE_NAME, NEW.tag__c, 'update', NEW.id, jsonb_build_object('nested__c', value) WHERE written > 0;
      RETURN NULL;
    END $$;
  CREATE FUNCTION proof.note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN
      INSERT INTO proof.announced (event_id, event, log_id) VALUES (NEW.id, NEW.event, (NEW.detail ->> 'trigger_log_id')::bigint);
      RETURN NULL;
    END $$;`;

/** A time as epoch milliseconds. */
export const epochOf = (column: string): string => `(1000 * extract(epoch FROM ${column}))::float8`;

/** The ledger, as deeds that the judge looks at. */
export const DEEDS = `
  SELECT table_name AS "table", tag, record_id::int AS "recordId", action, vals AS "values", true AS "isSure",
    ${epochOf("at")} AS "begunAt", ${epochOf("at")} AS "endedAt" FROM proof.deeds ORDER BY seq`;

/** The log's times are the proof's: as a superuser, who may read its clock from a file. */
export const moving = (clockFile: string) => `
  CREATE FUNCTION proof.move() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN
      IF NEW.created_at < clock_timestamp() + interval '1 s' THEN
        NEW.created_at := NEW.created_at + pg_read_file('${clockFile}')::float8 * interval '1 ms';
      END IF;
      RETURN NEW;
    END $$;
  CREATE TRIGGER proof_moves BEFORE INSERT ON salesforce._trigger_log FOR EACH ROW EXECUTE FUNCTION proof.move()`;

/** The proof's own triggers of a table; the nested one fires last, so that what it writes is seen behind what it follows. */
export const triggersOf = ({ table, nests }: Pick<Proved, "table" | "nests">): string => `
  CREATE TRIGGER proof_sees AFTER INSERT OR UPDATE OR DELETE ON salesforce."${table}" FOR EACH ROW EXECUTE FUNCTION proof.see();
  ${nests ? nestingOf(table) : ""}`;

const nestingOf = (table: string) => `
  CREATE TRIGGER proof_then_nests AFTER INSERT OR UPDATE ON salesforce."${table}" FOR EACH ROW
    WHEN (NEW.tag__c IS NOT NULL) EXECUTE FUNCTION proof.nest();`;

/** Once the tables are there. */
export const watching = (mappings: readonly Proved[]) => `
  ${mappings.map(triggersOf).join("")}
  CREATE TRIGGER proof_hears AFTER INSERT ON salesforce._bridge_outbox FOR EACH ROW EXECUTE FUNCTION proof.note()`;

/** From 2,201 records on the Bulk API costs fewer calls, and from 2,500 on a push has several jobs at work. */
const HEAP_ROWS = 4_900;

/** Rows that one statement changes at most. */
const ROWS_AT_ONCE = 40;

export function openApplication(url: string, mappings: readonly Proved[]) {
  const idle: Client[] = [];
  let deeds = 0;
  let changes = 0;
  let isClosing = false;
  const updatedOnly = new Set<string>();
  const underWay = new Set<{ readonly table: string; readonly over: Promise<void> }>();
  let resting: Promise<void> | null = null;

  const connect = async () => {
    const client = new Client({ connectionString: url, application_name: "application", query_timeout: 60_000 });
    client.on("error", () => undefined);
    await client.connect();
    return client;
  };
  /** On a connection that is opened when there is none. Resolves whatever happens to it. */
  const carryOut = async (statements: readonly Statement[], heldMilliseconds: number) => {
    const client = idle.pop() ?? (await connect().catch(() => null));
    if (client === null) return pause(200);
    try {
      await client.query("BEGIN; SET LOCAL lock_timeout = '30s'");
      for (const { text, values } of statements) {
        const { rowCount } = await client.query(text, [...values]);
        changes += rowCount ?? 0;
      }
      if (heldMilliseconds > 0) await pause(heldMilliseconds);
      await client.query("COMMIT");
      if (isClosing) await client.end();
      else idle.push(client);
    } catch {
      // Whatever broke it: either it was committed with its lines in the ledger, or there are none.
      await client.end().catch(() => undefined);
    }
  };
  const carryOutOn = async (table: string, statements: readonly Statement[], heldMilliseconds = 0) => {
    await resting;
    const one = { table, over: carryOut(statements, heldMilliseconds) };
    underWay.add(one);
    await one.over;
    underWay.delete(one);
  };
  return {
    /** Changes that were committed, as far as the application knows. */
    changes: () => changes,
    /** One transaction. */
    act: async (dice: Dice) => {
      deeds += 1;
      const mapping = dice.pick(mappings);
      if (!mapping) return;
      const statements = statementsBy(dice, mapping, `h${deeds}`, updatedOnly.has(mapping.table));
      await carryOutOn(mapping.table, statements, dice.isUnder(0.05) ? dice.below(4000) : 0);
    },
    /** One transaction that inserts more rows than calls of 200 are good for. */
    heap: async (mapping: Proved | undefined) => {
      deeds += 1;
      if (!mapping || updatedOnly.has(mapping.table)) return;
      await carryOutOn(mapping.table, [inserted(mapping, `h${deeds}`, HEAP_ROWS)]);
    },
    /** From now on rows of a table are only updated, which holds once this resolves; gives what ends it. */
    onlyUpdate: async (table: string) => {
      updatedOnly.add(table);
      await Promise.all([...underWay].flatMap((one) => (one.table === table ? [one.over] : [])));
      return () => updatedOnly.delete(table);
    },
    /** Nothing is written from now on, which holds once this resolves; gives what ends it. */
    rest: async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      resting = promise;
      await Promise.all([...underWay].map(({ over }) => over));
      return resolve;
    },
    close: async () => {
      isClosing = true;
      await Promise.all(idle.splice(0).map((client) => client.end().catch(() => undefined)));
    },
  };
}

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

function statementsBy(dice: Dice, mapping: Proved, token: string, isUpdate: boolean): Statement[] {
  const place = dice.roll();
  const rows = 1 + (dice.isUnder(0.3) ? dice.below(ROWS_AT_ONCE) : 0);
  const chance = isUpdate ? 0.5 : dice.roll();
  if (chance < 0.35) return [inserted(mapping, token, rows)];
  if (chance < 0.9) {
    const columns = [["here__c"], ["both__c"], ["here__c", "both__c"]][dice.below(3)] ?? ["here__c"];
    return [updated(mapping, token, rows, place, columns)];
  }
  if (chance < 0.95) return [deleted(mapping, place)];
  if (!mapping.hasUpsertField) return [deleted(mapping, place), inserted(mapping, token, 1)];
  return [replaced(mapping, token, place)];
}

const ledger = (table: string, action: string, from: string, vals: string) =>
  `INSERT INTO proof.deeds (table_name, tag, action, record_id, vals) SELECT '${table}', tag__c, '${action}', id, ${vals} FROM ${from}`;

function inserted({ table }: Proved, token: string, rows: number): Statement {
  const text = `WITH done AS (
      INSERT INTO salesforce.${table} (tag__c, here__c, both__c)
      SELECT $1 || '-' || n, $1, $1 FROM generate_series(1, $2::int) n RETURNING id, tag__c)
    ${ledger(table, "insert", "done", "jsonb_build_object('here__c', $1::text, 'both__c', $1::text)")}`;
  return { text, values: [token, rows] };
}

/** Rows from some place of the table on, in the order of their keys, so that two of us never wait for each other. */
const some = (table: string, limit: string) =>
  `SELECT id FROM salesforce.${table} WHERE tag__c IS NOT NULL AND id >= (SELECT floor(coalesce(max(id), 0) * $1::float8) FROM salesforce.${table}) ORDER BY id LIMIT ${limit} FOR UPDATE`;

function updated({ table }: Proved, token: string, rows: number, place: number, columns: readonly string[]): Statement {
  const vals = `jsonb_build_object(${columns.map((column) => `'${column}', $2::text`).join(", ")})`;
  const text = `WITH chosen AS MATERIALIZED (${some(table, "$3::int")}), done AS (
      UPDATE salesforce.${table} t SET ${columns.map((column) => `${column} = $2::text`).join(", ")}
      FROM chosen WHERE t.id = chosen.id RETURNING t.id, t.tag__c)
    ${ledger(table, "update", "done", vals)}`;
  return { text, values: [place, token, rows] };
}

function deleted({ table }: Proved, place: number): Statement {
  const text = `WITH chosen AS MATERIALIZED (${some(table, "1")}), done AS (
      DELETE FROM salesforce.${table} t USING chosen WHERE t.id = chosen.id RETURNING t.id, t.tag__c)
    ${ledger(table, "delete", "done", "'{}'::jsonb")}`;
  return { text, values: [place] };
}

/** Deletes a row and inserts another one under the same tag, at once. */
function replaced(mapping: Proved, token: string, place: number): Statement {
  const { table } = mapping;
  const text = `WITH chosen AS MATERIALIZED (${some(table, "1")}), gone AS (
      DELETE FROM salesforce.${table} t USING chosen WHERE t.id = chosen.id RETURNING t.id, t.tag__c
    ), noted AS (${ledger(table, "delete", "gone", "'{}'::jsonb")} RETURNING tag
    ), done AS (
      INSERT INTO salesforce.${table} (tag__c, here__c, both__c) SELECT tag, $2, $2 FROM noted RETURNING id, tag__c)
    ${ledger(table, "insert", "done", "jsonb_build_object('here__c', $2::text, 'both__c', $2::text)")}`;
  return { text, values: [place, token] };
}
