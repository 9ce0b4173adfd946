import type { RecordError } from "../record/record.ts";
import type { Write } from "./fold.ts";

/** A parent that a record names by an external id, and that Salesforce does not have. */
export interface MissingParent {
  readonly object: string;
  readonly field: string;
  readonly value: string;
}

/** How the message begins of a change that waits for its parent. */
export const WAITS_FOR_PARENT = "WAITS_FOR_PARENT";

/** Characters of such a message by which its change is found; an external id has at most 255. */
export const FOUND_BY_CHARACTERS = 500;

/** The message, in which everything but the parent is the same: by it the parent's own save finds those that wait. */
export const waitsFor = ({ object, field, value }: MissingParent): string =>
  `${WAITS_FOR_PARENT}: Salesforce has no ${object} whose ${field} is ${value.trim()}`;

/** As Salesforce says it: `Foreign key external ID: a-1 not found for field External_Id__c in entity Account`. */
const NOT_FOUND = /^Foreign key external ID: ([\s\S]*) not found for field (\w+) in entity (\w+)/;

/** The parent for the want of which alone a record was refused; null: that is not why. */
export function missingParentIn(errors: readonly RecordError[]): MissingParent | null {
  const missing = errors.flatMap(({ code, message }) => {
    const [, value, field, object] = (code === "INVALID_FIELD" && NOT_FOUND.exec(message)) || [];
    return value !== undefined && field !== undefined && object !== undefined ? [{ object, field, value }] : [];
  });
  return missing.length === errors.length ? (missing[0] ?? null) : null;
}

/**
 * The parent in the words of the row that names it: an org may repeat a value otherwise than it was sent. Of two that the
 * row names by one external id of one object it is the one with the value, if the org repeats that.
 */
export function asNamed({ record }: Pick<Write, "record">, missing: MissingParent): MissingParent {
  const isMeant = (name: string, other: string) => name.trim().toLowerCase() === other.trim().toLowerCase();
  const named = (record.parents ?? []).filter(
    ({ object, field }) => isMeant(object, missing.object) && isMeant(field, missing.field),
  );
  return named.find(({ value }) => isMeant(value, missing.value)) ?? named[0] ?? missing;
}

/** A parent that never comes is for an operator: the change then ends FAILED. */
const LONGEST_MILLISECONDS = 31 * 24 * 3_600_000;

/** Its own save wakes those that wait for a parent. Others come from elsewhere, so it is polled, ever more seldom. */
const [SOONEST_SECONDS, LATEST_SECONDS] = [10, 15 * 60];

/** When a change is sent again that has waited so long for its parent; null: not any more. */
export function sentAgainAfterSeconds(ageMilliseconds: number): number | null {
  if (ageMilliseconds >= LONGEST_MILLISECONDS) return null;
  return Math.min(Math.max(Math.round(ageMilliseconds / 5_000), SOONEST_SECONDS), LATEST_SECONDS);
}

/** No report before that: parents come a little later than their children all the time. */
export const REPORTED_AFTER_SECONDS = 3_600;

interface Waiting {
  readonly changes: number;
  readonly since: Date;
  /** The message of one of them. */
  readonly example: string;
}

/** The operator's message about changes that wait for their parents, with the remedy. */
export const reportMissingParents = ({ changes, since, example }: Waiting) => ({
  message: `${changes} changes wait for their parents, the oldest since ${since.toISOString()}: ${example.slice(WAITS_FOR_PARENT.length + 2)}`,
  remedy:
    "create the parents, or correct the external ids by which rows name them; after 31 days the changes end FAILED",
});
