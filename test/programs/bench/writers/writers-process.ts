import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import { answer } from "../apart.ts";

/** What an application's writers do in a process of their own, until it is sent something. */
export interface WritersOrder {
  readonly url: string;
  /** One table that Bridge does not know, and one that it does; both have rows with the keys from 1. */
  readonly tables: readonly [plain: string, mapped: string];
  readonly rows: number;
}

export const KINDS = ["UPDATE", "INSERT", "DELETE"] as const;
type Kind = (typeof KINDS)[number];

/** What the writers print as they end: milliseconds of each statement, and what they saw of waits for Bridge's locks. */
export interface Written {
  readonly plain: Readonly<Record<Kind, readonly number[]>>;
  readonly mapped: Readonly<Record<Kind, readonly number[]>>;
  /** The longest wait in milliseconds, to some 10 ms, by the beginning of what Bridge's session did. */
  readonly behind: Readonly<Record<string, number>>;
}

const WRITERS = 3;
const PAUSE_MILLISECONDS = 20;
const LOOK_MILLISECONDS = 10;
/** Rounds that are not measured: a session's first statements make the plans of the triggers. */
const WARMING = 2 * KINDS.length;

const none = () => ({ UPDATE: [] as number[], INSERT: [] as number[], DELETE: [] as number[] });

/** The same statement for both tables, one after the other, so that a slow moment of the machine meets both. */
async function write(
  client: Client,
  writer: number,
  { tables: [plain, mapped], rows }: WritersOrder,
  written: Pick<Written, "plain" | "mapped">,
  isOver: () => boolean,
): Promise<void> {
  for (let round = 0; !isOver(); round += 1) {
    const kind = KINDS[round % KINDS.length] ?? "UPDATE";
    const row = 1 + Math.floor(Math.random() * rows);
    const key = `W-${process.pid}-${writer}-${round - (kind === "DELETE" ? 1 : 0)}`;
    const both = [
      [plain, written.plain],
      [mapped, written.mapped],
    ] as const;
    for (const [table, times] of round % 2 === 0 ? both : both.toReversed()) {
      const began = performance.now();
      if (kind === "UPDATE")
        await client.query(`UPDATE salesforce.${table} SET title__c = $1 WHERE id = $2`, [`title ${round}`, row]);
      else if (kind === "INSERT")
        await client.query(`INSERT INTO salesforce.${table} (name, key__c, last__c) VALUES ($1, $1, 'new')`, [key]);
      else await client.query(`DELETE FROM salesforce.${table} WHERE key__c = $1`, [key]);
      if (round >= WARMING) (times[kind] as number[]).push(performance.now() - began);
    }
    await pause(PAUSE_MILLISECONDS);
  }
}

/** How long statements have waited for a session of Bridge's, and for what it does; a busy machine makes no such wait. */
const WAITS = `
  SELECT extract(epoch FROM clock_timestamp() - w.waitstart)::float8 * 1000 AS milliseconds,
    (SELECT min(left(regexp_replace(b.query, '\\s+', ' ', 'g'), 70))
     FROM unnest(pg_blocking_pids(w.pid)) AS blocker (pid) JOIN pg_stat_activity b USING (pid)
     WHERE b.application_name LIKE 'bridge%') AS behind
  FROM pg_locks w JOIN pg_stat_activity a ON a.pid = w.pid AND a.application_name = 'writer' AND a.datname = current_database()
  WHERE NOT w.granted AND w.waitstart IS NOT NULL`;

async function look(client: Client, longest: Record<string, number>, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const { rows } = await client.query<{ milliseconds: number; behind: string | null }>(WAITS);
    for (const { milliseconds, behind } of rows)
      if (behind !== null) longest[behind] = Math.max(longest[behind] ?? 0, milliseconds);
    await pause(LOOK_MILLISECONDS);
  }
}

async function connect(connectionString: string, application_name: string): Promise<Client> {
  const client = new Client({ connectionString, application_name });
  await client.connect();
  return client;
}

/** This file as a program, which sends something when it is connected, and its `Written` when it is sent something. */
export const WRITERS_PROGRAM: string = import.meta.filename;
if (import.meta.main) {
  const order = JSON.parse(process.argv[2] ?? "") as WritersOrder;
  let isOver = false;
  process.once("message", () => {
    isOver = true;
  });
  const behind: Record<string, number> = {};
  const written: Written = { plain: none(), mapped: none(), behind };
  const looker = await connect(order.url, "looker");
  const clients = await Promise.all(Array.from({ length: WRITERS }, () => connect(order.url, "writer")));
  process.send?.("connected");
  const writing = clients.map((client, at) => write(client, at, order, written, () => isOver));
  await Promise.all([...writing, look(looker, behind, () => isOver)]);
  answer(written);
}
