import type { Client } from "pg";
import type { TableShape } from "../../../../lib/model/mapping/shape.ts";
import { fieldsOf } from "../../../../lib/model/mapping/soql.ts";
import { type Ask, orgAsk } from "../../ask.ts";
import type { BenchOrg } from "./bench.ts";
import { runBulk, saveByCollections } from "./plain-client.ts";

/** More rows go by a job of the Bulk API. */
const MOST_BY_COLLECTIONS = 2_000;

type Values = Readonly<Record<string, unknown>>;

interface Page {
  readonly records: Values[];
  readonly nextRecordsUrl?: string;
}

/**
 * What a competent user writes in an afternoon: a row trigger that lists the keys of changed rows, whole rows to
 * Salesforce, and what is newer than a mark back in pages with one upsert each. A record that is committed late, an
 * answer that is lost, and a row that is changed while it is sent are lost to it.
 */
export class CycleLoop {
  calls = 0;
  #mark = new Date().toISOString();
  readonly #client: Client;
  readonly #shape: TableShape;
  readonly #ask: Ask;

  constructor(client: Client, { url, token }: BenchOrg, shape: TableShape) {
    this.#client = client;
    this.#shape = shape;
    const ask = orgAsk(url, token);
    this.#ask = (...asked) => {
      this.calls += 1;
      return ask(...asked);
    };
  }

  /** Lists the keys of changed rows from now on. */
  async capture(): Promise<void> {
    const { table } = this.#shape;
    await this.#client.query(`
      CREATE TABLE salesforce.queue_${table} (id bigint NOT NULL);
      CREATE FUNCTION salesforce.list_${table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF current_setting('loop.writes', true) = 'on' THEN RETURN NULL; END IF;
        INSERT INTO salesforce.queue_${table} VALUES (NEW.id); RETURN NULL; END $$;
      CREATE TRIGGER list AFTER INSERT OR UPDATE ON salesforce.${table} FOR EACH ROW EXECUTE FUNCTION salesforce.list_${table}()`);
  }

  /** Sends what is listed; gives how many records that were. */
  async push(): Promise<number> {
    const { table, columns } = this.#shape;
    const values = columns
      .filter(({ updateable }) => updateable)
      .map(({ column, field }) => `'${field}', ${column}`)
      .join(", ");
    const { rows } = await this.#client.query<{ id: string; record: Values }>(
      `SELECT id, jsonb_build_object('Id', sfid, ${values}) AS record FROM salesforce.${table}
       WHERE id IN (SELECT id FROM salesforce.queue_${table})`,
    );
    const records = rows.map(({ record }) => record);
    if (records.length > MOST_BY_COLLECTIONS) await runBulk(this.#ask, this.#shape.sfObject, csvOf(records), 500);
    else await saveByCollections(this.#ask, this.#shape.sfObject, records);
    if (rows.length > 0)
      await this.#client.query(`DELETE FROM salesforce.queue_${table} WHERE id = ANY ($1)`, [rows.map(({ id }) => id)]);
    return rows.length;
  }

  /** Brings what is newer than the mark, with one upsert a page. */
  async pull(): Promise<void> {
    const { table, sfObject, columns, softDeletes } = this.#shape;
    const fields = fieldsOf(this.#shape);
    const names = [
      "sfid",
      "systemmodstamp",
      ...(softDeletes ? ["isdeleted"] : []),
      ...columns.map((one) => one.column),
    ];
    const soql = `SELECT ${fields.join(", ")} FROM ${sfObject} WHERE SystemModstamp > ${this.#mark} ORDER BY SystemModstamp`;
    for (let path: string | undefined = `/query?q=${encodeURIComponent(soql)}`; path !== undefined; ) {
      const page: Page = await this.#ask("GET", path);
      path = page.nextRecordsUrl?.replace(/^.*\/v66\.0/, "");
      this.#mark = String(page.records.at(-1)?.["SystemModstamp"] ?? this.#mark).replace("+0000", "Z");
      if (page.records.length === 0) continue;
      const rows = page.records.map((record) => names.map((name, at) => [name, record[fields[at] ?? ""]]));
      await this.#client.query("SET loop.writes = 'on'");
      await this.#client.query(
        `INSERT INTO salesforce.${table} (${names.join(", ")})
         SELECT ${names.join(", ")} FROM jsonb_populate_recordset(NULL::salesforce.${table}, $1)
         ON CONFLICT (sfid) DO UPDATE SET ${names.map((name) => `${name} = excluded.${name}`).join(", ")}`,
        [JSON.stringify(rows.map((row) => Object.fromEntries(row)))],
      );
      await this.#client.query("SET loop.writes = 'off'");
    }
  }
}

function csvOf(records: readonly Values[]): string {
  const names = Object.keys(records[0] ?? {});
  const cell = (value: unknown) => (value === null ? "#N/A" : `"${String(value).replaceAll('"', '""')}"`);
  const lines = records.map((record) => names.map((name) => cell(record[name])).join(","));
  return `${[names.join(","), ...lines].join("\n")}\n`;
}
