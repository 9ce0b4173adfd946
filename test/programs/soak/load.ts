import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import type { RunningInstance } from "../../support/processes/instance.ts";

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
  { table: "salesforce.account", object: "Account", name: "Name", column: "name", texts: ["Website", "Phone"] },
  { table: "salesforce.contact", object: "Contact", name: "LastName", column: "lastname", texts: ["Title", "Phone"] },
] as const;

type Mapped = (typeof OBJECTS)[number];

/** Rows that deletes stay a small share of. */
export async function fillTables(instance: RunningInstance, rows: number): Promise<void> {
  for (const { table, column } of OBJECTS)
    await instance.sql(`INSERT INTO ${table} (${column}) SELECT 'row ' || n FROM generate_series(1, $1::int) n`, [
      rows,
    ]);
}

/** Starts both sides, with half of the changes a second each. */
export function startLoad(instance: RunningInstance, changesPerSecond: number): Load {
  const done: Record<string, number> = {};
  const stopping = new AbortController();
  const note = (kind: string) => {
    done[kind] = (done[kind] ?? 0) + 1;
  };
  const application = applicationOf(instance);
  const colleague = colleagueOf(instance);
  const sides = [application, colleague].map(({ act }) =>
    atRate(changesPerSecond / 2, stopping.signal, async () => note(await act(Math.random()))),
  );
  return {
    done,
    stop: async () => {
      stopping.abort();
      await Promise.all(sides);
      await application.close();
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
function applicationOf(instance: RunningInstance) {
  let client: Client | null = null;
  const connect = async () => {
    const opened = new Client({ connectionString: instance.file.database_url, application_name: "soak" });
    opened.on("error", () => {
      client = null;
    });
    await opened.connect();
    return opened;
  };
  const act = async (chance: number): Promise<string> => {
    const [kind, text, values = []] = statementBy(chance);
    try {
      client ??= await connect();
      await client.query(text, [...values]);
      return `PostgreSQL: ${kind}`;
    } catch {
      await client?.end().catch(() => undefined);
      client = null;
      return "PostgreSQL: not done";
    }
  };
  return { act, close: async () => client?.end() };
}

function statementBy(chance: number): readonly [kind: string, text: string, values?: readonly unknown[]] {
  const { table, column, texts } = anyOf(OBJECTS);
  const some = (of: string) =>
    `id = (SELECT id FROM ${of} WHERE id >= (SELECT floor(max(id) * $1::float8) FROM ${of}) ORDER BY id LIMIT 1)`;
  const place = Math.random();
  if (chance < 0.02) return ["insert", `INSERT INTO ${table} (${column}) VALUES ($1)`, [`new ${randomUUID()}`]];
  if (chance < 0.04) return ["delete", `DELETE FROM ${table} WHERE ${some(table)}`, [place]];
  if (chance < 0.06) {
    const contact = "salesforce.contact";
    return ["refused", `UPDATE ${contact} SET email = '${REFUSED}' WHERE ${some(contact)}`, [place]];
  }
  if (chance < 0.062) return ["mend", MEND];
  const text = anyOf(texts).toLowerCase();
  return ["update", `UPDATE ${table} SET ${text} = $2 WHERE ${some(table)}`, [place, newText()]];
}

/** A user who works in Salesforce: 2 % inserts, as many deletes, else updates. */
function colleagueOf(instance: RunningInstance) {
  const known = new Map<Mapped, string[]>();
  let knownUntil = 0;
  const learn = async () => {
    for (const mapped of OBJECTS) {
      const rows = await instance.sql<{ sfid: string }>(`SELECT sfid FROM ${mapped.table} WHERE sfid IS NOT NULL`);
      known.set(
        mapped,
        rows.map(({ sfid }) => sfid),
      );
    }
    knownUntil = performance.now() + 60_000;
  };
  const change = async (mapped: Mapped, chance: number): Promise<string> => {
    const { object, name, texts } = mapped;
    const path = `/sobjects/${object}`;
    if (chance < 0.02) {
      const record = { [name]: `new ${randomUUID()}`, External_Id__c: randomUUID() };
      await instance.org("POST", path, record);
      return "insert";
    }
    const ids = known.get(mapped) ?? [];
    const [id] = ids.splice(Math.floor(Math.random() * ids.length), 1);
    if (chance < 0.04) {
      await instance.org("DELETE", `${path}/${id}`);
      return "delete";
    }
    await instance.org("PATCH", `${path}/${id}`, { [anyOf(texts)]: newText() });
    if (id !== undefined) ids.push(id);
    return "update";
  };
  const act = async (chance: number): Promise<string> => {
    try {
      if (performance.now() > knownUntil) await learn();
      return `Salesforce: ${await change(anyOf(OBJECTS), chance)}`;
    } catch {
      return "Salesforce: not done";
    }
  };
  return { act };
}

function anyOf<Item>(items: readonly Item[]): Item {
  return items[Math.floor(Math.random() * items.length)] as Item;
}

const newText = () => String(Math.floor(Math.random() * 1e9));
