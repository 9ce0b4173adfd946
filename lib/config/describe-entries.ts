import type { SealedWorkspace } from "../access/ports.ts";
import type { Mapping } from "../model/mapping.ts";
import type { Entry } from "./document.ts";
import type { Org, OrgObject } from "./org.ts";
import { needsDescribe } from "./plan-import.ts";

/** What the org says of the objects of these entries, by lower-case name; it is asked only for what may be new. */
export async function describeEntries(
  org: Org,
  workspace: SealedWorkspace,
  entries: readonly Entry[],
  existing: readonly Mapping[],
): Promise<ReadonlyMap<string, OrgObject>> {
  const asking = entries.filter((entry) => needsDescribe(entry, existing));
  if (asking.length === 0) return new Map();
  const names = await org.objectNames(workspace);
  const wanted = asking.flatMap(({ objectName }) => names.get(objectName.toLowerCase()) ?? []);
  const objects = await org.describe(workspace, wanted);
  return new Map([...objects].map(([name, object]) => [name.toLowerCase(), object]));
}
