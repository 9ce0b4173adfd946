import { isTooOld, isUpToDate, reportUpgrade } from "../../../model/workspace/schema-version.ts";
import type { PostgresConnection } from "../../../model/workspace/workspace.ts";
import { DatabaseUnavailable } from "../../../monitoring/ports.ts";
import { closeQuietly } from "./idle-sessions.ts";
import { openWithinLimit, type Use } from "./session-limit.ts";
import { type Ask, metadata, type Session } from "./sql.ts";

/** Nothing is done in a schema that is further behind than that of the release before, until it is upgraded. */
export class SchemaTooOld extends DatabaseUnavailable {
  constructor(schema: string, version: number) {
    super("connect", reportUpgrade(schema, version), undefined, true);
  }
}

/** What this process has read of each schema: as many as there are workspaces. */
const versions = new Map<string, number>();

const nameOf = ({ url, schema }: PostgresConnection): string => JSON.stringify([url, schema]);

/** Opens a session, which reads the schema's version until this process has seen that it is up to date; or `SchemaTooOld`. */
export async function openOnSchema(connection: PostgresConnection, use: Use): Promise<Session> {
  const session = await openWithinLimit(connection, use);
  if (isUpToDate(versions.get(nameOf(connection)) ?? 0)) return session;
  // Whatever the trouble is, the next statement meets it and reports it; without the table there is no schema yet.
  const version = await readVersion((text) => session.query(text), connection).catch(() => null);
  if (version === null || !isTooOld(version)) return session;
  closeQuietly(session);
  throw new SchemaTooOld(connection.schema, version);
}

/** Reads the version of a schema and keeps it; null: nothing was provisioned there. */
export async function readVersion(ask: Ask, connection: PostgresConnection): Promise<number | null> {
  const [row] = await ask(`SELECT schema_version FROM ${metadata(connection.schema).meta}`);
  const version = row ? Number(row["schema_version"]) : null;
  if (version !== null) versions.set(nameOf(connection), version);
  return version;
}

/** What this process has last read of a schema that is behind, in words; null: it is up to date, or was not read. */
export function upgradeOf(connection: PostgresConnection): string | null {
  const version = versions.get(nameOf(connection));
  return version === undefined || isUpToDate(version) ? null : reportUpgrade(connection.schema, version);
}
