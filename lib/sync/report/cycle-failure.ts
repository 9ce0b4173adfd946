import { SalesforceRefusal } from "../../model/change/refusal.ts";
import { type CycleFailure, REASON_OF } from "../../model/engine.ts";
import { Failure } from "../../model/failure.ts";
import { codeOf } from "../../model/fault.ts";
import { remedyFor } from "../../model/refusal-remedies.ts";
import { EngineStop } from "../cycle/engine-stop.ts";
import { type PostgresError, postgresTrouble } from "./postgres-trouble.ts";

/** What an error that ended a cycle means for the engine, without values of rows. */
export function failureOf(error: unknown): CycleFailure {
  if (error instanceof SalesforceRefusal) {
    const reason = REASON_OF[error.refusal.kind];
    const said = error.message.slice(0, 500);
    const remedy = remedyFor(error.refusal);
    return { reason, message: said, ...(!said.includes(remedy) && { remedy }) };
  }
  if (error instanceof EngineStop) return error.failure;
  if (isOfTheCloud(error))
    return { reason: "engine_fault", message: `the service's own cloud failed (${nameOf(error)})` };
  const trouble = troubleWithDatabase(error);
  if (trouble !== null) return { reason: "postgres_unavailable", message: trouble };
  return { reason: "engine_fault", message: error instanceof Error ? error.name : "unknown" };
}

/** AWS's clients say of every error how often they have asked; the network's trouble has the same codes everywhere. */
const isOfTheCloud = (error: unknown): error is Error => error instanceof Error && "$metadata" in error;

const nameOf = (error: Error): string => codeOf(error) || error.name;

/** Null when the error is not from the customer's database. The driver's words may hold values, so few are shown. */
function troubleWithDatabase(error: unknown): string | null {
  if (error instanceof Failure) return error.message;
  const code = codeOf(error);
  if (/^[0-9A-Z]{5}$/.test(code)) return postgresTrouble(code, error as PostgresError);
  if (["EHOSTREFUSED", "EPROTOCOL", "ECREDENTIALS"].includes(code) && error instanceof Error) return error.message;
  if (/^E[A-Z_]+$/.test(code)) return `PostgreSQL cannot be reached (${code}); check that it runs and lets us in`;
  if (!(error instanceof Error)) return null;
  if (error.name === "DeadlinePassed" || error.name === "DatabaseUnavailable") return error.message;
  return CONNECTION_LOST.test(error.message) ? "the connection to PostgreSQL was lost" : null;
}

/** How the driver says it; it has no codes for these. */
const CONNECTION_LOST = /connection terminated|timeout expired|connection error|connection timeout/i;
