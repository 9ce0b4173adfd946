import { Failure } from "../model/failure.ts";
import type { Mapping } from "../model/mapping/mapping.ts";

/** The entity tag of a mapping's settings (RFC 9110, 8.8.3): another one after every change of them. */
export const versionOf = ({ configVersion }: Mapping): string => `"${configVersion}"`;

/** The entity tag of a workspace's configuration: another one after every change of any mapping. */
export const configVersionOf = (generation: number): string => `"${generation}"`;

/** Refuses a change that was meant for another version (RFC 9110, 13.1.1); null and `*` take any. */
export function requireVersion(ifMatch: string | null, current: string): void {
  if (ifMatch === null) return;
  const accepted = ifMatch.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  if (accepted.includes("*") || accepted.includes(current)) return;
  throw new Failure(
    "PRECONDITION_FAILED",
    `this was changed since you read it: it is version ${current} now, your change is meant for ${ifMatch}. Read it again`,
  );
}

/** A mapping as its next version, whose table does not exist yet. */
export function nextVersion(mapping: Mapping, at: Date): Mapping {
  return { ...mapping, configVersion: mapping.configVersion + 1, provisioning: { state: "pending" }, updatedAt: at };
}
