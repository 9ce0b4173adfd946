/** What the headers of a call say of how its records are saved. */
export interface SaveHeaders {
  /** Duplicates that a rule alerts of are saved; what a rule blocks is not (DuplicateRuleHeader, allowSave). */
  readonly allowsDuplicates: boolean;
  /** The object's assignment rules choose the owner (AssignmentRuleHeader; REST does so by default). */
  readonly assigns: boolean;
}

/** Of a call that says nothing, by SOAP and in jobs. */
export const NO_HEADERS: SaveHeaders = { allowsDuplicates: false, assigns: false };

/** `Sforce-Duplicate-Rule-Header: allowSave=true` and `Sforce-Auto-Assign: FALSE`, or the id of a rule. */
export function restHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): SaveHeaders {
  return {
    allowsDuplicates: /allowSave\s*=\s*true/i.test(String(headers["sforce-duplicate-rule-header"] ?? "")),
    assigns: !/^false$/i.test(String(headers["sforce-auto-assign"] ?? "")),
  };
}
