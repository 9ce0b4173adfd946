import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import type { RunningInstance } from "../../support/processes/instance.ts";
import { orgAsk, queryAll } from "../ask.ts";

/** Changes of both sides at a steady rate, whatever happens to the product meanwhile. */
export interface Load {
  /** What was done so far, and what found no record or was refused, by kind. */
  readonly done: Readonly<Record<string, number>>;
  /** Stops both sides and corrects the rows that Salesforce refuses. */
  stop(): Promise<void>;
}

/** An address that Salesforce refuses (`INVALID_EMAIL_ADDRESS`) and PostgreSQL takes. */
const REFUSED = "no address";
const MEND = `UPDATE salesforce.contact SET email = 'row' || id || '@example.com' WHERE email = '${REFUSED}'`;

const OBJECTS = [
  { table: "salesforce.account", object: "Account", name: "Name", texts: ["Website", "Phone"] },
  { table: "salesforce.contact", object: "Contact", name: "LastName", texts: ["Title", "Phone"] },
] as const;

type Values = Readonly<Record<string, unknown>>;

/** Rows that deletes stay a small share of. */
export async function fillTables(instance: RunningInstance, rows: number): Promise<void> {
  for (const { table, name } of OBJECTS)
    await instance.sql(`INSERT INTO ${table} (${name}) SELECT 'row ' || n FROM generate_series(1, ${rows}) n`);
}

/** Starts both sides, with half of the changes a second each. */
export function startLoad(instance: RunningInstance, changesPerSecond: number): Load {
  const done: Record<string, number> = {};
  const stopping = new AbortController();
  const sides = Object.entries({ PostgreSQL: () => changeRow(instance), Salesforce: colleagueOf(instance) });
  const acting = sides.map(([side, change]) =>
    atRate(changesPerSecond / 2, stopping.signal, async () => {
      const kind = `${side}: ${await change().catch(() => "not done")}`;
      done[kind] = (done[kind] ?? 0) + 1;
    }),
  );
  return {
    done,
    stop: async () => {
      stopping.abort();
      await Promise.all(acting);
      await instance.sql(MEND);
    },
  };
}

/** One after the other, as many a second; what cannot be done in time, as while the product restarts, is left out. */
async function atRate(perSecond: number, signal: AbortSignal, act: () => Promise<void>): Promise<void> {
  let next = performance.now();
  while (!signal.aborted) {
    await act();
    next = Math.max(next + 1000 / perSecond, performance.now() - 1000);
    await pause(Math.max(0, next - performance.now()), undefined, { signal }).catch(() => undefined);
  }
}

/** The application: 2 % inserts, deletes and refused values, all of which are corrected every two minutes; else updates. */
async function changeRow(instance: RunningInstance): Promise<string> {
  const { table, name, texts } = anyOf(OBJECTS);
  const some = (of: string) =>
    `id = (SELECT id FROM ${of} WHERE id >= (SELECT floor(max(id) * ${Math.random()}) FROM ${of}) ORDER BY id LIMIT 1)`;
  const contact = "salesforce.contact";
  const [kind, text] = byChance([
    [0.02, ["insert", `INSERT INTO ${table} (${name}) VALUES ('new ${randomUUID()}')`]],
    [0.04, ["delete", `DELETE FROM ${table} WHERE ${some(table)}`]],
    [0.06, ["refused", `UPDATE ${contact} SET email = '${REFUSED}' WHERE ${some(contact)}`]],
    [0.062, ["mend", MEND]],
    [1, ["update", `UPDATE ${table} SET ${anyOf(texts)} = '${newText()}' WHERE ${some(table)}`]],
  ] as const);
  const client = new Client({ connectionString: instance.file.database_url, application_name: "soak" });
  client.on("error", () => undefined); // the product is killed meanwhile
  await client.connect();
  await client.query(text).finally(() => client.end());
  return kind;
}

/** A user who works in Salesforce: 2 % inserts, as many deletes, else updates. */
function colleagueOf(instance: RunningInstance): () => Promise<string> {
  const known = new Map<string, string[]>();
  let knownUntil = 0;
  return async () => {
    if (performance.now() > knownUntil) {
      for (const { table } of OBJECTS) {
        const rows = await instance.sql<{ sfid: string }>(`SELECT sfid FROM ${table} WHERE sfid IS NOT NULL`);
        known.set(
          table,
          rows.map(({ sfid }) => sfid),
        );
      }
      knownUntil = performance.now() + 60_000;
    }
    const { table, object, name, texts } = anyOf(OBJECTS);
    const path = `/sobjects/${object}`;
    const kind = byChance([
      [0.02, "insert"],
      [0.04, "delete"],
      [1, "update"],
    ] as const);
    if (kind === "insert") {
      await instance.org("POST", path, { [name]: `new ${randomUUID()}`, External_Id__c: randomUUID() });
      return kind;
    }
    const ids = known.get(table) ?? [];
    const [id = ""] = ids.splice(Math.floor(Math.random() * ids.length), 1);
    if (kind === "delete") await instance.org("DELETE", `${path}/${id}`);
    else {
      await instance.org("PATCH", `${path}/${id}`, { [anyOf(texts)]: newText() });
      ids.push(id);
    }
    return kind;
  };
}

/** The first of these below whose bound a random number is. */
function byChance<Item>(items: readonly (readonly [below: number, item: Item])[]): Item {
  const chance = Math.random();
  return (items.find(([below]) => chance < below) as readonly [number, Item])[1];
}

function anyOf<Item>(items: readonly Item[]): Item {
  return items[Math.floor(Math.random() * items.length)] as Item;
}

const newText = () => String(Math.floor(Math.random() * 1e9));

const PATIENCE_MILLISECONDS = 5 * 60_000;
const LOOK_MILLISECONDS = 10_000;

/** Rows that differ from their records or have none, and records without a row; waits until there are none, but not for ever. */
export async function differencesWhenSettled(instance: RunningInstance): Promise<number> {
  const began = performance.now();
  for (;;) {
    const differences = await countDifferences(instance);
    if (differences === 0 || performance.now() - began > PATIENCE_MILLISECONDS) return differences;
    await pause(LOOK_MILLISECONDS);
  }
}

async function countDifferences(instance: RunningInstance): Promise<number> {
  const { url, access_token } = instance.file.salesforce;
  let differences = 0;
  for (const { table, object, name, texts } of OBJECTS) {
    const fields = ["External_Id__c", name, ...texts, ...(object === "Contact" ? ["Email"] : [])];
    const rows = await instance.sql<Values>(`SELECT sfid, ${fields.join(", ")} FROM ${table}`);
    const found = await queryAll<Values>(orgAsk(url, access_token), `SELECT Id, ${fields.join(", ")} FROM ${object}`);
    const records = new Map(found.map((record) => [record["Id"], valuesOf(record, fields)]));
    const columns = fields.map((field) => field.toLowerCase());
    const equal = rows.filter((row) => records.get(row["sfid"]) === valuesOf(row, columns)).length;
    differences += rows.length - equal + (records.size - equal);
  }
  return differences;
}

function valuesOf(values: Values, names: readonly string[]): string {
  return JSON.stringify(names.map((name) => values[name] ?? null));
}
