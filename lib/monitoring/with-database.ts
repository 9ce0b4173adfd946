import type { SealedWorkspace } from "../access/ports.ts";
import { reasonFor } from "../model/engine.ts";
import { Failure } from "../model/failure.ts";
import { writeLine } from "../model/log-line.ts";
import type { PostgresConnection } from "../model/workspace/workspace.ts";
import { DatabaseUnavailable } from "./ports.ts";

/**
 * Asks the workspace's database. A workspace without one is refused with CONFLICT; one that cannot be asked answers
 * INTERNAL_ERROR with the class of the trouble, for the operator must act, not the caller; one whose connections are
 * all in use, or whose other transactions are in the way each time, answers UNAVAILABLE, which the caller may retry.
 */
export async function withDatabase<Database, Answer>(
  databases: { open(postgres: PostgresConnection): Promise<Database> },
  workspace: SealedWorkspace,
  ask: (database: Database) => Promise<Answer>,
): Promise<Answer> {
  const { postgres } = await workspace.open();
  if (postgres === null) throw notConnected();
  try {
    return await ask(await databases.open(postgres));
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable)) throw error;
    writeLine({ level: "error", workspace_id: workspace.id, message: error.message });
    const headers = error.isBusy ? { "Retry-After": "1" } : {};
    const remedy = error.isBusy && error.stage === "query" ? "send the request again" : REMEDY;
    throw new Failure(
      error.isBusy ? "UNAVAILABLE" : "INTERNAL_ERROR",
      `the workspace's PostgreSQL database could not be asked: ${error.message}; ${remedy}`,
      { headers },
    );
  }
}

const REMEDY = reasonFor("postgres_unavailable").remedy;

/** The refusal of a workspace without a database. */
export const notConnected = () =>
  new Failure("CONFLICT", "this workspace is not connected to a PostgreSQL database yet: connect one first");

/** The same for what does without: null where the workspace has no database, or it cannot be asked. */
export async function ifAvailable<Database, Answer>(
  databases: { open(postgres: PostgresConnection): Promise<Database> },
  workspace: SealedWorkspace,
  ask: (database: Database) => Promise<Answer>,
): Promise<Answer | null> {
  const { postgres } = await workspace.open();
  try {
    return postgres && (await ask(await databases.open(postgres)));
  } catch (error) {
    if (error instanceof DatabaseUnavailable) return null;
    throw error;
  }
}
