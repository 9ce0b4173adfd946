/** What a comparison of both sides has counted; null: an earlier version counted it, without this. */
export interface Counted {
  /** Rows with a record's id, and records. */
  readonly rows: number;
  readonly records: number;
  /** Records whose row lacked or was another; of them those without a row. */
  readonly differing: number;
  readonly missing: number | null;
  /** Rows whose record Salesforce does not show. */
  readonly vanished: number;
  /** Rows without a record's id, and those of them that Salesforce has refused. */
  readonly unsent: number | null;
  readonly refused: number | null;
  /** Calls of the org's API. */
  readonly calls: number | null;
}

/** Whether both sides were equal: each row and each record had its other side, with the same values; null: unknown. */
export const areEqual = ({ differing, vanished, unsent }: Counted): boolean | null =>
  unsent === null && differing === 0 && vanished === 0 ? null : differing === 0 && vanished === 0 && unsent === 0;

/** The same in a sentence for each side: all rows and all records are in it. What differed was corrected then. */
export function sayEquality({ rows, records, differing, missing, vanished, unsent, refused, calls }: Counted): string {
  const lacking = missing ?? 0;
  const differ = differing - lacking;
  const refusedOf = !refused ? "" : refused === unsent ? " (refused)" : ` (${count(refused)} refused)`;
  const ofRows = [
    `${count(rows - differ - vanished)} equal`,
    differ === 0 ? "0 differ" : `${count(differ)} differed`,
    ...(vanished > 0 ? [`${count(vanished)} whose record Salesforce does not show`] : []),
    ...(unsent ? [`${count(unsent)} ${unsent === 1 ? "has" : "have"} no record${refusedOf}`] : []),
  ];
  const ofRecords = lacking === 0 ? "each has a row" : `${count(lacking)} had no row`;
  const cost = calls === null ? "" : ` ${counted(calls, "API call")}.`;
  return `${counted(rows + (unsent ?? 0), "row")}: ${ofRows.join(", ")}. ${counted(records, "record")}: ${ofRecords}.${cost}`;
}

const count = (many: number): string => many.toLocaleString("en-US");

const counted = (many: number, one: string): string => `${count(many)} ${one}${many === 1 ? "" : "s"}`;
