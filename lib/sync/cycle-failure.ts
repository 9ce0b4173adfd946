import { type CycleFailure, REASON_OF } from "../model/engine.ts";
import { SalesforceRefusal } from "../model/refusal.ts";

/** What an error that ended a cycle means for the engine, told without values of rows. */
export function failureOf(error: unknown): CycleFailure {
  if (error instanceof SalesforceRefusal) {
    return { reason: REASON_OF[error.refusal.kind], message: error.message.slice(0, 500) };
  }
  const sqlState = sqlStateOf(error);
  if (sqlState) return { reason: "postgres_unavailable", message: `PostgreSQL refused (SQLSTATE ${sqlState})` };
  if (error instanceof Error && DATABASE_ERRORS.has(error.name)) {
    return { reason: "postgres_unavailable", message: error.message.slice(0, 500) };
  }
  return { reason: "engine_fault", message: error instanceof Error ? error.name : "unknown" };
}

const DATABASE_ERRORS = new Set(["DatabaseUnavailable"]);

function sqlStateOf(error: unknown): string | null {
  if (typeof error !== "object" || error === null || !("code" in error)) return null;
  return typeof error.code === "string" && /^[0-9A-Z]{5}$/.test(error.code) ? error.code : null;
}
