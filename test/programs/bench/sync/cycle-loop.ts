import { setTimeout as pause } from "node:timers/promises";
import type { Client } from "pg";
import type { TableShape } from "../../../../lib/model/mapping/shape.ts";
import { fieldsOf } from "../../../../lib/model/mapping/soql.ts";
import type { SalesforceConnection } from "../../../../lib/model/workspace/workspace.ts";
import { upsertPage } from "../load/load-ways.ts";
import { ask } from "./alone.ts";

/** Records of one call of sObject Collections; more than so many rows go by a job of the Bulk API. */
const COLLECTION = 200;
const MOST_BY_COLLECTIONS = 2_000;

interface Page {
  readonly records: Readonly<Record<string, unknown>>[];
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
  readonly #org: SalesforceConnection;
  readonly #shape: TableShape;

  constructor(client: Client, org: SalesforceConnection, shape: TableShape) {
    this.#client = client;
    this.#org = org;
    this.#shape = shape;
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
    const { rows } = await this.#client.query<{ id: string; record: Record<string, unknown> }>(
      `SELECT id, jsonb_build_object('Id', sfid, ${values}) AS record FROM salesforce.${table}
       WHERE id IN (SELECT id FROM salesforce.queue_${table})`,
    );
    const records = rows.map(({ record }) => record);
    if (records.length > MOST_BY_COLLECTIONS) await this.#byBulk(records);
    else await this.#byCollections(records);
    if (rows.length > 0)
      await this.#client.query(`DELETE FROM salesforce.queue_${table} WHERE id = ANY ($1)`, [rows.map(({ id }) => id)]);
    return rows.length;
  }

  async #byCollections(records: readonly object[]): Promise<void> {
    for (let from = 0; from < records.length; from += COLLECTION) {
      const some = records
        .slice(from, from + COLLECTION)
        .map((record) => ({ attributes: { type: this.#shape.sfObject }, ...record }));
      const results = await this.#ask<{ success: boolean }[]>("PATCH", "/composite/sobjects", {
        allOrNone: false,
        records: some,
      });
      if (results.some(({ success }) => !success)) throw new Error(`a save was refused: ${JSON.stringify(results[0])}`);
    }
  }

  async #byBulk(records: readonly Record<string, unknown>[]): Promise<void> {
    const names = Object.keys(records[0] ?? {});
    const cell = (value: unknown) => (value === null ? "#N/A" : `"${String(value).replaceAll('"', '""')}"`);
    const lines = records.map((record) => names.map((name) => cell(record[name])).join(","));
    const job = { object: this.#shape.sfObject, operation: "update" };
    const { id } = await this.#ask<{ id: string }>("POST", "/jobs/ingest", job);
    this.calls += 1;
    await ask(this.#org, "PUT", `/jobs/ingest/${id}/batches`, `${names.join(",")}\n${lines.join("\n")}\n`);
    await this.#ask("PATCH", `/jobs/ingest/${id}`, { state: "UploadComplete" });
    while ((await this.#ask<{ state: string }>("GET", `/jobs/ingest/${id}`)).state !== "JobComplete") await pause(500);
    this.calls += 1;
    await (await ask(this.#org, "GET", `/jobs/ingest/${id}/failedResults`)).text();
  }

  /** Brings what is newer than the mark; gives how many records that were. */
  async pull(): Promise<number> {
    const soql = `SELECT ${fieldsOf(this.#shape).join(", ")} FROM ${this.#shape.sfObject} WHERE SystemModstamp > ${this.#mark} ORDER BY SystemModstamp`;
    let read = 0;
    for (let path: string | undefined = `/query?q=${encodeURIComponent(soql)}`; path !== undefined; ) {
      const page: Page = await this.#ask("GET", path);
      path = page.nextRecordsUrl?.replace(/^.*\/v66\.0/, "");
      read += page.records.length;
      this.#mark = String(page.records.at(-1)?.["SystemModstamp"] ?? this.#mark).replace("+0000", "Z");
      if (page.records.length === 0) continue;
      await this.#client.query("SET loop.writes = 'on'");
      await upsertPage(this.#client, this.#shape, page.records);
      await this.#client.query("SET loop.writes = 'off'");
    }
    return read;
  }

  async #ask<Answer>(method: string, path: string, body?: object): Promise<Answer> {
    this.calls += 1;
    const answer = await ask(this.#org, method, path, body);
    const text = await answer.text();
    return (text === "" ? null : JSON.parse(text)) as Answer;
  }
}
