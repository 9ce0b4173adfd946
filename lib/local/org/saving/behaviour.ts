import type { SObject } from "../metadata/sobject.ts";
import type { Row } from "../store/database.ts";

/** What the standard objects do automatically on each save, before validation. */
export function applyStandardBehaviour(object: SObject, row: Row, prior: Row | null, stamp: string): void {
  if (object.field("LastName") && object.field("FirstName")) row["Name"] = fullName(row);
  BY_OBJECT[object.name]?.(row, prior, stamp);
  if (object.custom && object.field("Name")?.createable) row["Name"] ??= row["Id"] ?? null;
}

function fullName(row: Row): string | null {
  return [row["FirstName"], row["LastName"]].filter((part) => part !== null && part !== undefined).join(" ") || null;
}

const STAGE_PROBABILITY: Readonly<Record<string, number>> = {
  Prospecting: 10,
  Qualification: 10,
  "Needs Analysis": 20,
  "Value Proposition": 50,
  "Id. Decision Makers": 60,
  "Perception Analysis": 70,
  "Proposal/Price Quote": 75,
  "Negotiation/Review": 90,
  "Closed Won": 100,
  "Closed Lost": 0,
};

const BY_OBJECT: Readonly<Record<string, (row: Row, prior: Row | null, stamp: string) => void>> = {
  Opportunity: (row, prior) => {
    const hasMoved =
      prior === null
        ? (row["Probability"] ?? null) === null
        : prior["StageName"] !== row["StageName"] && prior["Probability"] === row["Probability"];
    if (hasMoved) row["Probability"] = STAGE_PROBABILITY[String(row["StageName"])] ?? row["Probability"] ?? null;
    const [year, month] = String(row["CloseDate"] ?? "")
      .split("-")
      .map(Number);
    const quarter = Math.ceil((month ?? 0) / 3);
    Object.assign(
      row,
      year && quarter
        ? { FiscalYear: year, FiscalQuarter: quarter, Fiscal: `${year} ${quarter}` }
        : { FiscalYear: null, FiscalQuarter: null, Fiscal: null },
    );
  },
  Case: (row, _prior, stamp) => {
    row["ClosedDate"] = row["Status"] === "Closed" ? (row["ClosedDate"] ?? stamp) : null;
  },
  Task: (row, _prior, stamp) => {
    row["CompletedDateTime"] = row["Status"] === "Completed" ? (row["CompletedDateTime"] ?? stamp) : null;
  },
};
