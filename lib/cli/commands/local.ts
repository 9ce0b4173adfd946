import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { QueryArrayResult } from "pg";
import { argument, type Context } from "../context.ts";
import { CommandFailure, kindOf } from "../failure.ts";
import { instanceFile } from "../profiles.ts";

type Row = Readonly<Record<string, unknown>>;

/** The part of `instance.json` that is needed here. */
interface LocalInstance {
  readonly database_url: string;
  readonly salesforce: { readonly url: string; readonly access_token: string };
}

/**
 * Runs statements in the local instance's database, in one transaction as `psql -c` does, and shows what each gave; in
 * JSON an array of rows, or of several statements an array of these.
 */
export async function sql(context: Context): Promise<void> {
  const { default: pg } = await import("pg");
  const client = new pg.Client({ connectionString: localInstance(context).database_url });
  client.on("error", () => undefined); // the statement's own rejection says it
  await client.connect().catch(unreachable);
  try {
    const asked = { text: argument(context, 0), rowMode: "array" } as const;
    const given = await client.query<unknown[]>(asked).catch((error: Error) => {
      // Whatever has no SQLSTATE did not come from the server: the connection is gone.
      return error instanceof pg.DatabaseError ? refused(error) : unreachable(error);
    });
    const results: readonly QueryArrayResult[] = [given].flat();
    const tables = results.map(namedRows);
    if (context.out.json && tables.length > 1) return context.out.done("", tables);
    for (const [at, { command, rowCount }] of results.entries())
      show(context, tables[at] ?? [], command === null ? "no statement" : `${command} ${rowCount ?? ""}`.trim());
  } finally {
    await client.end().catch(() => undefined);
  }
}

function namedRows({ fields, rows }: QueryArrayResult): readonly Row[] {
  const names = apart(fields.map(({ name }) => name));
  return rows.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at]])));
}

/** Columns of one name, as two counts have, become `count` and `count 2`. */
const apart = (names: readonly string[]): readonly string[] =>
  names.map((name, at) => {
    const before = names.slice(0, at).filter((earlier) => earlier === name).length;
    return before === 0 ? name : `${name} ${before + 1}`;
  });

/** Asks the local instance's org, page by page to the end. */
export async function soql(context: Context): Promise<void> {
  const { url, access_token } = localInstance(context).salesforce;
  const rows: Row[] = [];
  let total = 0;
  const first = `/services/data/v66.0/query?${new URLSearchParams({ q: argument(context, 0) })}`;
  for (let path: string | undefined = first; path !== undefined; ) {
    const answer = await fetch(url + path, { headers: { authorization: `Bearer ${access_token}` } }).catch(unreachable);
    if (!answer.ok) {
      const [{ message }] = (await answer.json()) as [{ readonly message: string }];
      throw new CommandFailure(kindOf(answer.status), message);
    }
    const page = (await answer.json()) as Page;
    rows.push(...page.records.map(({ attributes: _, ...fields }) => fields));
    total = page.totalSize;
    path = page.nextRecordsUrl;
  }
  // SELECT COUNT() is answered by the total alone.
  show(context, rows.length === 0 && total > 0 ? [{ count: total }] : rows, "no records");
}

/** A page of a query's answer, as Salesforce writes it. */
interface Page {
  readonly records: readonly Row[];
  readonly totalSize: number;
  readonly nextRecordsUrl?: string;
}

/** An hour of the writer's writes, one every eight seconds. */
const HOUR_OF_WRITES = 450;

/** Says how many writes the demo's writer has left, stops it, or gives it another hour; it looks before each write. */
export async function demo(context: Context): Promise<void> {
  const action = context.args[0] ?? "status";
  if (!["status", "stop", "start"].includes(action))
    throw new CommandFailure("invalid", `bridge demo knows status, stop and start, not "${action}"`);
  localInstance(context);
  const { env, folder } = context.terminal;
  const file = join(dirname(instanceFile(env, folder)), "demo-writer.json");
  if (!existsSync(file))
    throw new CommandFailure("notFound", "this instance has no sample data: it was first started with --quiet-demo");
  const left = {
    stop: 0,
    start: HOUR_OF_WRITES,
    status: (JSON.parse(readFileSync(file, "utf8")) as { readonly left: number }).left,
  }[action as "status" | "stop" | "start"];
  if (action !== "status") writeFileSync(file, JSON.stringify({ left }), { mode: 0o600 });
  const words =
    left === 0
      ? "The demo's writer is stopped. It changes sample rows again after: bridge demo start"
      : `The demo's writer makes up to ${left} more changes while npm start runs, one every eight seconds. End it with: bridge demo stop`;
  context.out.done(words, { left });
}

function show({ out }: Context, rows: readonly Row[], empty: string): void {
  const names = Object.keys(rows[0] ?? {});
  const columns = names.map((name) => ({ name, of: (row: Row) => cell(row[name]) }));
  out.list(rows, columns, empty);
}

function cell(value: unknown): string | number | null {
  if (value === null || typeof value === "number" || typeof value === "string") return value;
  return value instanceof Date ? value.toJSON() : JSON.stringify(value);
}

function localInstance({ terminal: { env, folder } }: Context): LocalInstance {
  const file = instanceFile(env, folder);
  try {
    return JSON.parse(readFileSync(file, "utf8")) as LocalInstance;
  } catch {
    throw new CommandFailure("notSignedIn", `no instance runs on this machine (${file}): start one with npm start`);
  }
}

function unreachable(error: Error): never {
  throw new CommandFailure("unreachable", `the instance on this machine does not answer (${error.message}): npm start`);
}

function refused(error: Error): never {
  throw new CommandFailure("invalid", error.message);
}
