/** Why the changes of a mapped table are not captured, or not yet all of them. */
export type CaptureOff =
  /** These triggers are missing, or not enabled as the mapping asks, on the table that bears the mapped name. */
  | { readonly why: "triggers"; readonly triggers: readonly string[] }
  /** The table's owner is a role whose rights `member`, the owner of the trigger functions, does not have (a member that does not inherit has none). */
  | { readonly why: "owner"; readonly owner: string; readonly member: string }
  /** A logical subscription feeds the table. */
  | { readonly why: "subscription" }
  /** `bridge mapping capture --mine` has not come to its end. */
  | { readonly why: "unfinished" };

/** What an operator is told: what is wrong with the table, `salesforce.contact`, and what to do about it. */
export function explainCaptureOff(
  off: CaptureOff,
  table: string,
  sfObject: string,
): { readonly problem: string; readonly remedy: string } {
  const command = `bridge mapping capture ${sfObject}`;
  switch (off.why) {
    case "triggers":
      return {
        problem: `changes of table ${table} are not captured: triggers are missing or not enabled as the mapping asks (${off.triggers.join(", ")})`,
        remedy: `run: ${command}`,
      };
    case "owner":
      return {
        problem: `changes of table ${table} are not captured: it belongs to ${off.owner}, and ${off.member}, which owns Bridge's trigger functions, does not have the rights of that role`,
        remedy: `run: GRANT ${quoted(off.owner)} TO ${quoted(off.member)}; then: ${command}`,
      };
    case "subscription":
      return { problem: fedBySubscription(table), remedy: `${SUBSCRIPTION_REMEDY}, then run: ${command}` };
    case "unfinished":
      return {
        problem: `not all rows of table ${table} are captured as changed yet`,
        remedy: `if this stays, run again: ${command} --mine`,
      };
  }
}

/** Why a table that a logical subscription feeds cannot be captured. */
export const fedBySubscription = (table: string): string =>
  `changes of table ${table} are not captured: a logical subscription feeds it, and its apply worker fires no statement triggers`;

export const SUBSCRIPTION_REMEDY =
  "take the table out of the subscription (ALTER PUBLICATION … DROP TABLE, then ALTER SUBSCRIPTION … REFRESH PUBLICATION), or map it as sf_to_pg";

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
