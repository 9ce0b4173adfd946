import { Client } from "pg";
import type { Postgres } from "./start-postgres.ts";

const OLDEST_VERSION = 130_000;

interface Findings {
  readonly version: number;
  readonly version_name: string;
  readonly database: string;
  readonly role: string;
  readonly encoding: string;
  readonly may_create: boolean;
  readonly is_replica: boolean;
}

const FINDINGS = `
  SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS version_name,
         current_database() AS database, current_user AS role, current_setting('server_encoding') AS encoding,
         has_database_privilege(current_database(), 'CREATE') AS may_create, pg_is_in_recovery() AS is_replica
`;

/** Takes a PostgreSQL that runs already, after looking whether it can serve. Throws with the remedy when it cannot. */
export async function usePostgres(url: string): Promise<Postgres> {
  const problem = problemOf(await look(url));
  if (problem) throw new Error(`the database of DATABASE_URL cannot be used: ${problem}`);
  return { url, logFile: "", exited: new Promise(() => {}), close: async () => {} };
}

async function look(url: string): Promise<Findings> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  try {
    await client.connect();
    const [findings] = (await client.query<Findings>(FINDINGS)).rows;
    if (!findings) throw new Error("it gave no answer about itself");
    return findings;
  } catch (cause) {
    const reason = cause instanceof AggregateError ? cause.errors.map(String).join("; ") : (cause as Error).message;
    throw new Error(`the database of DATABASE_URL (${withoutPassword(url)}) cannot be used: ${reason}`, { cause });
  } finally {
    await client.end();
  }
}

function problemOf({
  version,
  version_name,
  database,
  role,
  encoding,
  may_create,
  is_replica,
}: Findings): string | null {
  if (version < OLDEST_VERSION) return `it is PostgreSQL ${version_name}, and 13 or later is needed`;
  if (is_replica) return "it is a read-only replica; give the URL of the primary";
  if (encoding !== "UTF8")
    return `its encoding is ${encoding}; create a database WITH ENCODING 'UTF8' TEMPLATE template0`;
  if (!may_create)
    return `the role ${role} may not create a schema; GRANT CREATE ON DATABASE "${database}" TO "${role}"`;
  return null;
}

function withoutPassword(url: string): string {
  const shown = URL.parse(url);
  if (!shown) return "not a URL";
  shown.password = "";
  return shown.href;
}
