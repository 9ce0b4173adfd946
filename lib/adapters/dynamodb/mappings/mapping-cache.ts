import { GetCommand } from "@aws-sdk/lib-dynamodb";
import type { Mapping } from "../../../model/mapping/mapping.ts";
import type { Database } from "../client/client.ts";
import { HEAD, readHead } from "./mapping-head.ts";
import { mappings } from "./mappings.ts";
import { readMappings } from "./read-mappings.ts";

/** Mappings as cycles read them, beat after beat. */
export interface CachedMappings {
  /** Some mappings of a workspace by their ids, at most 99, deleted ones left out. */
  read(workspaceId: string, mappingIds: readonly string[]): Promise<ReadonlyMap<string, Mapping>>;
  /** Those of a workspace that are active. Their tables may not exist yet. */
  listActive(workspaceId: string): Promise<readonly Mapping[]>;
}

interface Known {
  readonly generation: number;
  readonly byId: Map<string, Mapping>;
}

/** Fields of the mappings that one process caches: some tens of megabytes. */
const MOST_FIELDS = 200_000;

/**
 * A process asks DynamoDB for a workspace's generation only, which every change of a mapping raises, and reads mappings
 * again when it is another. What has no table yet is always read, for tables are created without a new generation. The
 * generation is read eventually consistent: a cycle checks the config version in the customer's database, so an old one
 * only lets it end without work.
 */
export function cachedMappings(database: Database, mostFields = MOST_FIELDS): CachedMappings {
  const workspaces = new Map<string, Known>();

  const know = async (workspaceId: string): Promise<Known> => {
    const generation = await readGeneration(database, workspaceId);
    const known = workspaces.get(workspaceId);
    if (known?.generation === generation) return known;
    const listed = await mappings(database).list(workspaceId);
    const read = { generation: listed.generation, byId: new Map(listed.mappings.map((one) => [one.id, one])) };
    if (fieldsOf([...workspaces.values(), read]) > mostFields) workspaces.clear();
    workspaces.set(workspaceId, read);
    return read;
  };

  return {
    read: async (workspaceId, mappingIds) => {
      const { byId } = await know(workspaceId);
      const unfinished = mappingIds.filter((id) => byId.has(id) && !isFinished(byId.get(id)));
      if (unfinished.length > 0) {
        const found = await readMappings(database, workspaceId, unfinished, { ConsistentRead: false });
        // What is read eventually consistent may be older than what is known.
        for (const [id, mapping] of found)
          if (mapping.configVersion === byId.get(id)?.configVersion) byId.set(id, mapping);
      }
      return new Map(mappingIds.flatMap((id) => pairOf(id, byId.get(id))));
    },
    listActive: async (workspaceId) => [...(await know(workspaceId)).byId.values()].filter(({ active }) => active),
  };
}

async function readGeneration(database: Database, workspaceId: string): Promise<number> {
  const Key = { pk: workspaceId, sk: HEAD };
  const { Item } = await database.client.send(new GetCommand({ TableName: database.table("mappings"), Key }));
  return readHead(Item).generation;
}

/** Whether its tables exist; nothing about it changes then without a new generation. */
const isFinished = (mapping: Mapping | undefined): boolean =>
  mapping?.provisioning.state === "ready" && mapping.provisioning.version === mapping.configVersion;

const pairOf = (id: string, mapping: Mapping | undefined) => (mapping ? [[id, mapping] as const] : []);

const fieldsOf = (all: readonly Known[]): number =>
  all.reduce((sum, { byId }) => [...byId.values()].reduce((most, { fields }) => most + fields.length + 10, sum), 0);
