import { Refusal } from "../refusal.ts";

/** The result of one record of a request; `created` matters to upserts only. */
export interface Outcome {
  readonly id: string | null;
  readonly success: boolean;
  readonly created: boolean;
  readonly errors: readonly RecordError[];
}

/** One reason why a record was refused. */
export interface RecordError {
  readonly statusCode: string;
  readonly message: string;
  readonly fields: readonly string[];
}

/** The outcome of a record that was accepted. */
export function accepted(id: string, created = false): Outcome {
  return { id, success: true, created, errors: [] };
}

/** The outcome of a record that was refused; anything but a refusal is a fault and thrown on. */
export function refused(error: unknown, created = false): Outcome {
  if (!(error instanceof Refusal)) throw error;
  return {
    id: null,
    success: false,
    created,
    errors: [{ statusCode: error.code, message: error.message, fields: error.fields }],
  };
}

const ROLLED_BACK: RecordError = {
  statusCode: "ALL_OR_NONE_OPERATION_ROLLED_BACK",
  message: "Record rolled back because not all records were valid and the request was using AllOrNone header",
  fields: [],
};

/** What an accepted record becomes when another one of its all-or-none request was refused. */
export function rolledBack(outcome: Outcome): Outcome {
  return outcome.success ? { ...outcome, id: null, success: false, errors: [ROLLED_BACK] } : outcome;
}
