import type { Dice } from "../../../support/doubles/dice.ts";

/** What the org is ordered to do wrong; each strikes a few times at most. */
const FAULTS: readonly Readonly<Record<string, unknown>>[] = [
  { kind: "saveThenDrop", path: "services/Soap" },
  { kind: "saveThenDrop", path: "services/Soap" },
  { kind: "resetBeforeAnswer", path: "services/(Soap|data)" },
  { kind: "resetInBody", path: "services/(Soap|data)" },
  { kind: "unavailable", path: "services/(Soap|data)" },
  { kind: "serverError", path: "services/(Soap|data)" },
  { kind: "expiredSession", path: "services/(Soap|data)" },
  { kind: "serverError", path: "oauth2/token" },
  { kind: "refusedGrant", path: "oauth2/token" },
  { kind: "concurrentLimit", path: "services/(Soap|data)" },
  { kind: "lockedRow" },
  { kind: "governorLimit", size: 5 },
  { kind: "failedJob", path: "BULK" },
  { kind: "abortedJob", path: "BULK" },
  { kind: "heldCommit", milliseconds: 8_000 },
  { kind: "heldCommit", milliseconds: 25_000 },
];

export function faultBy(dice: Dice): Readonly<Record<string, unknown>> {
  const fault = dice.pick(FAULTS) ?? {};
  return { ...fault, nth: 1 + dice.below(4), times: 1 + dice.below(2) };
}
