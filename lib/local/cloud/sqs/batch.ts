import { AwsError } from "../aws-error.ts";
import { sqsError } from "./errors.ts";

const ENTRY_ID = /^[A-Za-z0-9_-]{1,80}$/;
const MAXIMUM_ENTRIES = 10;

/** What a batch answers: which entries succeeded, and why the others did not. */
export interface BatchAnswer<Result> {
  readonly Successful: Array<{ Id: string } & Result>;
  readonly Failed: Array<{ Id: string; SenderFault: boolean; Code: string; Message: string }>;
}

/** Runs each entry of a batch that keeps the rules for batches (1 to 10 entries, distinct ids); refusals stay with their entry. */
export function eachEntry<Entry extends { readonly Id: string }, Result>(
  entries: readonly Entry[],
  run: (entry: Entry) => Result,
): BatchAnswer<Result> {
  checkEntries(entries);
  const answer: BatchAnswer<Result> = { Successful: [], Failed: [] };
  for (const entry of entries) {
    try {
      answer.Successful.push({ Id: entry.Id, ...run(entry) });
    } catch (error) {
      if (!(error instanceof AwsError) || error.name === "BatchRequestTooLong") throw error;
      answer.Failed.push({ Id: entry.Id, SenderFault: true, Code: error.name, Message: error.message });
    }
  }
  return answer;
}

function checkEntries(entries: ReadonlyArray<{ readonly Id: string }>): void {
  if (entries.length === 0) throw sqsError("EmptyBatchRequest", "There should be at least one entry in the request.");
  if (entries.length > MAXIMUM_ENTRIES) {
    throw sqsError(
      "TooManyEntriesInBatchRequest",
      `Maximum number of entries per request are ${MAXIMUM_ENTRIES}. You have sent ${entries.length}.`,
    );
  }
  const seen = new Set<string>();
  for (const { Id } of entries) {
    if (!ENTRY_ID.test(Id)) {
      throw sqsError(
        "InvalidBatchEntryId",
        "A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.",
      );
    }
    if (seen.has(Id)) throw sqsError("BatchEntryIdsNotDistinct", `Id ${Id} repeated.`);
    seen.add(Id);
  }
}
