import type { SealedWorkspace } from "../access/ports.ts";
import { parentsOf } from "../model/mapping/describe.ts";
import type { Mapping } from "../model/mapping/mapping.ts";
import type { Entry } from "./document.ts";
import type { Org, OrgObject } from "./org-ports.ts";
import { mappingOf, needsDescribe } from "./plan-import.ts";

/**
 * What the org says of the objects of these entries, by lower-case name, and of the objects whose external ids they name
 * parents by; it is asked only for what may be new.
 */
export async function describeEntries(
  org: Org,
  workspace: SealedWorkspace,
  entries: readonly Entry[],
  existing: readonly Mapping[],
): Promise<ReadonlyMap<string, OrgObject>> {
  const asking = entries.filter((entry) => needsDescribe(entry, existing));
  if (asking.length === 0) return new Map();
  const names = new Map((await org.objects(workspace)).map(({ name }) => [name.toLowerCase(), name]));
  const wanted = asking.flatMap(({ objectName }) => names.get(objectName.toLowerCase()) ?? []);
  const objects = byLowerCase(await org.describe(workspace, wanted));
  const parents = asking.flatMap((entry) => {
    const object = objects.get(entry.objectName.toLowerCase());
    return object ? parentsOf(entry.fields ?? mappingOf(entry, existing)?.fields ?? [], object) : [];
  });
  const more = [...new Set(parents)].filter((name) => !objects.has(name.toLowerCase()));
  if (more.length === 0) return objects;
  return new Map([...objects, ...byLowerCase(await org.describe(workspace, more))]);
}

const byLowerCase = (objects: ReadonlyMap<string, OrgObject>) =>
  new Map([...objects].map(([name, object]) => [name.toLowerCase(), object]));
