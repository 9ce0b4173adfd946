import type { Mapping } from "../../../model/mapping/mapping.ts";
import { readItems } from "../client/batch.ts";
import type { Database } from "../client/client.ts";
import { HEAD, overlaid, readHead, readPlan } from "./mapping-head.ts";
import { mappingKey, readMapping } from "./mapping-item.ts";

/**
 * Some mappings of a workspace by their ids, at most 99, deleted ones left out, in one reading. One that is eventually
 * consistent is for cycles: they check the config version in the customer's database, so an old reading only lets them
 * end without work.
 */
export async function readMappings(
  database: Database,
  workspaceId: string,
  mappingIds: readonly string[],
  how: { readonly ConsistentRead: boolean },
): Promise<ReadonlyMap<string, Mapping>> {
  const keys = [HEAD, ...mappingIds.map(mappingKey)].map((sk) => ({ pk: workspaceId, sk }));
  const items = await readItems(database, "mappings", keys, how);
  const kept = items.filter(({ sk }) => sk !== HEAD).map(readMapping);
  const found = new Map(kept.map((mapping) => [mapping.id, mapping]));
  const head = readHead(items.find(({ sk }) => sk === HEAD));
  const plan = await readPlan(database, workspaceId, head);
  for (const change of plan?.changes ?? []) {
    const { id } = change.after;
    if (mappingIds.includes(id)) found.set(id, overlaid(found.get(id) ?? null, change));
  }
  return new Map([...found].filter(([, { deletedAt }]) => deletedAt === null));
}
