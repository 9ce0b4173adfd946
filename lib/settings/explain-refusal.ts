import type { RequestRefusal } from "../model/change/refusal.ts";
import { knownRemedy } from "../model/refusal-remedies.ts";

/** What Salesforce said. */
export const saidBy = ({ code, message }: RequestRefusal): string =>
  `Salesforce refused: ${message || "no reason was given"} (${code})`;

/** A refusal in words: what Salesforce said, and what to do about it. */
export const explainRefusal = (refusal: RequestRefusal): string =>
  [saidBy(refusal), knownRemedy(refusal) ?? []].flat().join("; ");
