import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Context } from "./context.ts";
import { instanceFile } from "./profiles.ts";

/** The database and the org that `npm start` runs on this machine, for a workspace to connect. */
export interface OwnMachine {
  readonly databaseUrl: string;
  readonly org: { readonly url: string; readonly clientId: string; readonly clientSecret: string };
}

/** What the instance on this machine has; null: the command speaks to another instance, or it was started by an older version. */
export function ownMachine({ terminal: { env, folder }, target }: Context): OwnMachine | null {
  const file = instanceFile(env, folder);
  if (!existsSync(file)) return null;
  const { base_url, database_url, salesforce } = JSON.parse(readFileSync(file, "utf8")) as Instance;
  if (base_url !== target().url || salesforce.client_id === undefined) return null;
  const { url, client_id: clientId, client_secret: clientSecret } = salesforce;
  return { databaseUrl: database_url, org: { url, clientId, clientSecret } };
}

/** Bytes at the end of the log that are looked through. */
const LOG_TAIL = 1_000_000;

/** Since when the instance of this machine does not run, its last error, and the remedy; null: it is another one, or runs. */
export function whyStopped({ terminal: { env, folder }, target }: Context): string | null {
  const file = instanceFile(env, folder);
  if (!existsSync(file)) return null;
  const { base_url, pid } = JSON.parse(readFileSync(file, "utf8")) as Instance;
  if (base_url !== target().url || isRunning(pid)) return null;
  const log = join(dirname(file), "bridge.log");
  if (!existsSync(log)) return ": it does not run. Start it: npm start";
  const lines = readFileSync(log).subarray(-LOG_TAIL).toString("utf8").trimEnd().split("\n");
  const error = lines.findLast((line) => line.startsWith("{") && line.includes('"level":"error"')); // the first may be cut
  const { message = null, at = "" } = error ? (JSON.parse(error) as { message?: string; at?: string }) : {};
  const last = error === undefined ? "" : `; the last error in its log: ${at} ${message ?? error.slice(0, 300)}`;
  return `: it does not run since ${statSync(log).mtime.toISOString()}${last}. Start it: npm start`;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** The part of `instance.json` that is needed here. */
interface Instance {
  readonly pid: number;
  readonly base_url: string;
  readonly database_url: string;
  readonly salesforce: { readonly url: string; readonly client_id?: string; readonly client_secret: string };
}
