/** Why nothing may touch a mapped table: it is not there as mapped, or its changes are not captured, or not yet all. */
export type CaptureOff =
  /** No table has the mapped name; `now`: the one that it has become, `"other"."contact"`, where it was renamed or moved. */
  | { readonly why: "table"; readonly now: string | null }
  /** Columns that are mapped, or Bridge's own, are missing. */
  | { readonly why: "columns"; readonly columns: readonly string[] }
  /** Row-level security hides rows of it from our user. */
  | { readonly why: "rows_hidden" }
  /** These were dropped and added again, and hold values that nothing captured. */
  | { readonly why: "replaced"; readonly columns: readonly string[] }
  /** It is a partition: what is written by way of the partitioned table fires none of its statement triggers. */
  | { readonly why: "partition" }
  /** These triggers are missing, or not enabled as the mapping asks, on the table that bears the mapped name. */
  | { readonly why: "triggers"; readonly triggers: readonly string[] }
  /** The table's owner is a role whose rights `member`, the owner of the trigger functions, does not have (a member that does not inherit has none). */
  | { readonly why: "owner"; readonly owner: string; readonly member: string }
  /** A logical subscription feeds the table. */
  | { readonly why: "subscription" }
  /** `bridge mapping capture --mine` has not come to its end. */
  | { readonly why: "unfinished" };

/** The reason of `sync.broken` that it is. */
export const REASON_OF_OFF = {
  table: "table_gone",
  columns: "column_gone",
  rows_hidden: "rows_hidden",
  replaced: "capture_off",
  partition: "capture_off",
  triggers: "capture_off",
  owner: "capture_off",
  subscription: "capture_off",
  unfinished: "capture_off",
} as const satisfies Readonly<Record<CaptureOff["why"], string>>;

/** The operator's message: what is wrong with the table, `salesforce.contact`, and what to do about it. */
export function explainCaptureOff(
  off: CaptureOff,
  table: string,
  sfObject: string,
): { readonly problem: string; readonly remedy: string } {
  const command = `bridge mapping capture ${sfObject}`;
  const choice = `${command} --salesforce (discards writes that were not captured) or ${command} --mine (sends every row)`;
  switch (off.why) {
    case "table":
      return {
        problem: `table ${table} is gone${off.now === null ? "" : `: it is ${off.now} now`}`,
        remedy: `${off.now === null ? "" : "give it its name and schema again, or "}deactivate its mapping and activate it again, which creates ${off.now === null ? "it again" : "a new one"} (or proposes it, see schema_changes) and fills it from Salesforce`,
      };
    case "columns": {
      const [what, it] = off.columns.length === 1 ? ["column", "it"] : ["columns", "them"];
      return {
        problem: `${what} ${off.columns.join(", ")} of table ${table} ${off.columns.length === 1 ? "is" : "are"} gone`,
        remedy: `if ${it} ${off.columns.length === 1 ? "was" : "were"} renamed, give back the old ${off.columns.length === 1 ? "name" : "names"} or remove the fields from the mapping; if ${it} ${off.columns.length === 1 ? "was" : "were"} dropped, deactivate and activate the mapping: Bridge then adds ${it} (with schema_changes propose: proposes ${it}) and fills ${it} from Salesforce`,
      };
    }
    case "rows_hidden":
      return { problem: hiddenRows(table), remedy: HIDDEN_REMEDY };
    case "replaced":
      return {
        problem: `${off.columns.join(", ")} of table ${table} was dropped and added again, and holds values that were not captured`,
        remedy: `compare both sides with bridge mapping compare, then run ${choice}`,
      };
    case "partition":
      return {
        problem: `changes of table ${table} are not captured: it is a partition, and what is written by way of its parent fires no statement triggers`,
        remedy: `run: ALTER TABLE … DETACH PARTITION ${table}; then ${choice}; or map it as sf_to_pg`,
      };
    case "triggers":
      return {
        problem: `changes of table ${table} are not captured: triggers are missing or not enabled as the mapping asks (${off.triggers.join(", ")})`,
        remedy: `run ${choice}`,
      };
    case "owner":
      return {
        problem: `changes of table ${table} are not captured: it belongs to ${off.owner}, and ${off.member}, which owns Bridge's trigger functions, does not have the rights of that role`,
        remedy: `run: GRANT ${quoted(off.owner)} TO ${quoted(off.member)}; then ${choice}`,
      };
    case "subscription":
      return { problem: fedBySubscription(table), remedy: `${SUBSCRIPTION_REMEDY}, then run ${choice}` };
    case "unfinished":
      return {
        problem: `not all rows of table ${table} are captured as changed yet`,
        remedy: `if this stays, run again: ${command} --mine`,
      };
  }
}

/** Why a table whose rows may be hidden from us cannot be mapped. */
export const hiddenRows = (table: string): string =>
  `row-level security hides rows of table ${table} from the user that Bridge connects as`;

export const HIDDEN_REMEDY =
  "as a superuser run: ALTER ROLE … BYPASSRLS for that user; or, as the table's owner: ALTER TABLE … NO FORCE ROW LEVEL SECURITY";

/** Why a table that a logical subscription feeds cannot be captured. */
export const fedBySubscription = (table: string): string =>
  `changes of table ${table} are not captured: a logical subscription feeds it, and its apply worker fires no statement triggers`;

export const SUBSCRIPTION_REMEDY =
  "take the table out of the subscription (ALTER PUBLICATION … DROP TABLE, then ALTER SUBSCRIPTION … REFRESH PUBLICATION), or map it as sf_to_pg";

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
