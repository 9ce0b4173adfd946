import { readdirSync, readFileSync } from "node:fs";
import type { Client } from "pg";
import { processorTime, sum } from "../figures.ts";

/** What was used: processor time in milliseconds, statements of any client, bytes of WAL. */
export interface Used {
  /** Of this process. */
  readonly client: number;
  /** Of the server and all of its backends. */
  readonly postgres: number;
  readonly statements: number;
  readonly wal: number;
}

const TICK_MILLISECONDS = 10;

/** What was used during this by this process, and by the server behind the connection, which runs on this machine. */
export async function usedBy(client: Client, work: () => Promise<unknown>): Promise<Used> {
  const before = await usedSoFar(client);
  await work();
  const after = await usedSoFar(client);
  return {
    client: after.client - before.client,
    postgres: after.postgres - before.postgres,
    statements: after.statements - before.statements - 1, // the second reading itself
    wal: after.wal - before.wal,
  };
}

async function usedSoFar(client: Client): Promise<Used> {
  const { rows } = await client.query<{ pid: number; statements: number; wal: number }>(
    `SELECT pg_backend_pid() AS pid, (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 AS wal,
       (SELECT sum(calls)::float8 FROM pg_stat_statements) AS statements`,
  );
  const { pid, statements, wal } = rows[0] as (typeof rows)[number];
  return { client: processorTime(), postgres: serverMilliseconds(statOf(pid).parent), statements, wal };
}

/** Of the children that live the kernel counts nanoseconds, of those that have ended hundredths of a second. */
function serverMilliseconds(server: number): number {
  const children = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && statOf(Number(name)).parent === server);
  const nanoseconds = [server, ...children].map((pid) => Number(textOf(`/proc/${pid}/schedstat`).split(" ")[0]));
  return sum(nanoseconds) / 1e6 + statOf(server).endedTicks * TICK_MILLISECONDS;
}

function statOf(pid: number): { readonly parent: number; readonly endedTicks: number } {
  const text = textOf(`/proc/${pid}/stat`);
  // The program's name, in parentheses, may hold blanks.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return { parent: Number(fields[1]), endedTicks: Number(fields[13]) + Number(fields[14]) };
}

/** Empty: the process has ended meanwhile. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
