import type { ImportPlan, Mappings } from "../../../config/ports.ts";
import { Failure } from "../../../model/failure.ts";
import type { Mapping } from "../../../model/mapping/mapping.ts";
import type { Database } from "../client/client.ts";
import { queryAll, scanAll } from "../client/read-item.ts";
import { ConditionFailed, updateIf } from "../client/transact.ts";
import { commit } from "../commit.ts";
import { HEAD, nextGeneration, overlaid, readHead, readPlan, TAIL } from "./mapping-head.ts";
import { mappingKey, readMapping } from "./mapping-item.ts";
import { writesOf } from "./mapping-writes.ts";
import { readMappings } from "./read-mappings.ts";

/** Mappings in DynamoDB: one item each, guard items for what they hold alone, one head item that orders the changes. */
export function mappings(database: Database): Mappings {
  return {
    list: (workspaceId) => readListing(database, workspaceId),

    find: async (workspaceId, mappingId) => {
      const found = await readMappings(database, workspaceId, [mappingId], { ConsistentRead: true });
      return found.get(mappingId) ?? null;
    },

    listDeleted: async (workspaceId) => {
      const { kept } = await readAll(database, workspaceId);
      return kept.filter((mapping) => !isKept(mapping)).toSorted(byObject);
    },

    change: async (workspaceId, generation, { changes, audit, events }) => {
      const next = nextGeneration(database, workspaceId, generation, null);
      const writes = changes.flatMap((change) => writesOf(database, change));
      try {
        await commit(database, { writes: [...next, ...writes], audit, events });
        return true;
      } catch (error) {
        if (!(error instanceof ConditionFailed)) throw error;
        if (error.positions.includes(0)) return false;
        throw new Failure("CONFLICT", "another mapping of this workspace has this object or this table");
      }
    },

    setProvisioning: async (workspaceId, mappingId, version, provisioning) => {
      const kept = await updateIf(database, "mappings", {
        Key: { pk: workspaceId, sk: mappingKey(mappingId) },
        UpdateExpression: "SET #provisioning = :provisioning",
        ConditionExpression: "config_version = :version",
        // A word that DynamoDB keeps for itself.
        ExpressionAttributeNames: { "#provisioning": "provisioning" },
        ExpressionAttributeValues: { ":provisioning": provisioning, ":version": version },
      });
      return kept !== null;
    },

    everywhere: async function* () {
      const pages = scanAll(database, "mappings", {
        FilterExpression:
          "(begins_with(sk, :mapping) AND active = :true AND deleted_at = :none) OR attribute_exists(plan_id)",
        ExpressionAttributeValues: { ":mapping": mappingKey(""), ":true": true, ":none": null },
      });
      for await (const items of pages) {
        for (const item of items) {
          const plan = item["sk"] === HEAD ? readHead(item).plan : null;
          if (item["sk"] !== HEAD) yield { mapping: readMapping(item) };
          else if (plan) yield { openImport: { workspaceId: String(item["pk"]), id: plan.id } };
        }
      }
    },
  };
}

async function readListing(database: Database, workspaceId: string): ReturnType<Mappings["list"]> {
  for (;;) {
    const { head, kept, tail } = await readAll(database, workspaceId);
    if (head.generation !== tail) continue; // something changed while the mappings were read
    const plan = await readPlan(database, workspaceId, head);
    const all = plan ? withPlan(kept, plan) : kept;
    return { generation: head.generation, mappings: all.filter(isKept).toSorted(byObject) };
  }
}

const isKept = ({ deletedAt }: Mapping): boolean => deletedAt === null;

/** Independent of the machine's locale, so that an export is the same everywhere. */
const byObject = (one: Mapping, other: Mapping): number =>
  one.sfObject < other.sfObject ? -1 : one.sfObject > other.sfObject ? 1 : 0;

function withPlan(kept: readonly Mapping[], plan: ImportPlan): readonly Mapping[] {
  const byId = new Map(kept.map((mapping) => [mapping.id, mapping]));
  for (const change of plan.changes) byId.set(change.after.id, overlaid(byId.get(change.after.id) ?? null, change));
  return [...byId.values()];
}

/** The head, then the mappings, then the tail, which is the generation after all was read: in this order in the partition. */
async function readAll(database: Database, workspaceId: string) {
  const items = await queryAll(database, "mappings", {
    KeyConditionExpression: "pk = :pk AND sk BETWEEN :head AND :last",
    ExpressionAttributeValues: { ":pk": workspaceId, ":head": HEAD, ":last": TAIL },
    ConsistentRead: true,
  });
  const of = (sk: string) => items.find((item) => item["sk"] === sk);
  const kept = items.filter(({ sk }) => String(sk).startsWith(mappingKey(""))).map(readMapping);
  return { head: readHead(of(HEAD)), kept, tail: readHead(of(TAIL)).generation };
}
