import { existsSync, readFileSync } from "node:fs";
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

/** The part of `instance.json` that is needed here. */
interface Instance {
  readonly base_url: string;
  readonly database_url: string;
  readonly salesforce: { readonly url: string; readonly client_id?: string; readonly client_secret: string };
}
